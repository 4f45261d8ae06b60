# Translates with the bundled model or any other, without Python on the host:
#
#   docker build -t pocketmt .
#   echo "Where is the train station?" | docker run --rm -i pocketmt translate
#   docker run --rm -i -v "$PWD:/models:ro" pocketmt translate --model /models/captions.pocketmt < text.en
#
# With --build-arg EXTRAS=[serve] it also serves; the host decides who reaches the port:
#
#   docker run --rm --read-only --tmpfs /tmp -p 127.0.0.1:5000:5000 -v "$PWD:/models:ro" pocketmt serve --host 0.0.0.0 /models
#
# tests/serve/test_services.py builds the image and runs it, where Docker is.
FROM python:3.12-slim-bookworm AS build
# hadolint ignore=DL3008
RUN apt-get update && apt-get install --yes --no-install-recommends g++ && rm -rf /var/lib/apt/lists/*
ARG EXTRAS=
WORKDIR /source
COPY . .
RUN python -m venv /opt/pocketmt && /opt/pocketmt/bin/pip install --no-cache-dir --quiet ".$EXTRAS" \
    && /opt/pocketmt/bin/pip uninstall --yes --quiet pip

FROM python:3.12-slim-bookworm
COPY --from=build /opt/pocketmt /opt/pocketmt
RUN useradd --create-home --uid 1000 pocketmt
USER 1000
ENTRYPOINT ["/opt/pocketmt/bin/pocketmt"]
CMD ["--help"]
