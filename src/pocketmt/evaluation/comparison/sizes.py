"""Sizes of a model file by part, scheme and matrix."""

import math

from pocketmt.evaluation.comparison.record import SizeOfMatrix, SizeOfScheme, Sizes
from pocketmt.model_file.report import MatrixReport, ModelReport


def measure_sizes(report: ModelReport) -> Sizes:
    """Return the sizes that a report of `pocketmt inspect` has."""
    matrices = tuple(
        SizeOfMatrix(each.name, each.shape, each.scheme, each.bits, each.bytes)
        for each in (*report.matrices, *report.vector_groups)
    )
    parts = {
        "matrices": report.matrix_bytes,
        "biases and norms": report.vector_bytes,
        "ranges": report.range_bytes,
        "shortlist": report.shortlist_bytes,
        "known words": report.known_words_bytes,
        "vocabulary": report.vocabulary_bytes,
        "header and padding": report.container_bytes,
    }
    return Sizes(
        file_bytes=report.file_bytes,
        float32_file_bytes=report.float32_file_bytes,
        parameters=report.parameters,
        parts={name: size for name, size in parts.items() if size},
        schemes=_by_scheme(report.matrices),
        matrices=matrices,
    )


def _by_scheme(matrices: tuple[MatrixReport, ...]) -> tuple[SizeOfScheme, ...]:
    groups: dict[str, list[MatrixReport]] = {}
    for matrix in matrices:
        groups.setdefault(matrix.scheme, []).append(matrix)
    schemes = []
    for scheme, group in groups.items():
        weights, size = sum(math.prod(each.shape) for each in group), sum(each.bytes for each in group)
        schemes.append(SizeOfScheme(scheme, len(group), weights, 8 * size / weights, size))
    return tuple(sorted(schemes, key=lambda each: -each.bytes))
