// Translates while one types. Nothing is stored in the browser, and no other server is asked.

const PAUSE = 250; // milliseconds without typing before a request
const ALTERNATIVES = 3;
const MOST_RETRIES = 3; // of the same text
const LONGEST_WITH_DETAILS = 2000; // characters; longer texts are translated without alternatives and alignment
const element = (id) => document.getElementById(id);
const [source, target, text, output] = ["source", "target", "text", "translation"].map(element);
const state = { languages: [], limit: Infinity, timer: 0, retries: 0, request: null, links: [], characters: [] };

async function start() {
  const [languages, settings] = await Promise.all([ask("languages"), ask("frontend/settings")]);
  state.languages = languages;
  state.limit = settings.charLimit;
  element("access").hidden = !settings.apiKeys;
  source.append(new Option("Detect", "auto"));
  for (const { code, name, targets } of languages) {
    if (targets.some((each) => each !== code)) source.append(new Option(name, code));
  }
  source.value = settings.language.source.code;
  showTargets(settings.language.target.code);
  schedule(0); // Browsers restore the text of the last visit, and one may type before the languages are known.
}

async function ask(path, options) {
  const answer = await fetch(path, options);
  if (answer.ok) return answer.json();
  const value = await answer.json().catch(() => null); // A proxy answers with a page instead.
  const message = value?.error ?? `the server answers ${answer.status}`;
  throw Object.assign(new Error(message), { retryAfter: Number(answer.headers.get("Retry-After")) });
}

function showTargets(wanted) {
  const reachable = new Set(
    state.languages
      .filter(({ code }) => source.value === "auto" || code === source.value)
      .flatMap(({ code, targets }) => targets.filter((each) => each !== code)),
  );
  target.replaceChildren(
    ...state.languages.filter(({ code }) => reachable.has(code)).map(({ code, name }) => new Option(name, code)),
  );
  if (reachable.has(wanted)) target.value = wanted;
  const back = state.languages.find(({ code }) => code === target.value);
  element("swap").disabled = source.value === "auto" || !back || !back.targets.includes(source.value);
}

function schedule(pause = PAUSE) {
  clearTimeout(state.timer);
  state.request?.abort(); // The server stops its work, too.
  state.request = null;
  mark(-1);
  state.links = [];
  countCharacters();
  if (!state.languages.length) return;
  state.retries = 0;
  if (!text.value.trim()) {
    show({ translatedText: "" });
    say("");
    return;
  }
  state.timer = setTimeout(translate, pause);
}

async function translate() {
  const request = new AbortController();
  state.request = request;
  output.classList.add("waiting");
  output.setAttribute("aria-busy", "true");
  const details = text.value.length <= LONGEST_WITH_DETAILS;
  const body = {
    q: text.value,
    source: source.value,
    target: target.value,
    format: "text",
    alternatives: details ? ALTERNATIVES : 0,
    alignment: details,
    api_key: element("key").value,
  };
  try {
    const headers = { "Content-Type": "application/json" };
    const answer = await ask("translate", { method: "POST", headers, body: JSON.stringify(body), signal: request.signal });
    if (state.request === request) {
      show(answer);
      say("");
    }
  } catch (error) {
    if (error.name === "AbortError" || state.request !== request) return;
    say(error.message, true);
    if (error.retryAfter > 0 && state.retries < MOST_RETRIES) {
      state.retries += 1;
      state.timer = setTimeout(translate, 1000 * error.retryAfter);
    }
  } finally {
    if (state.request === request) {
      state.request = null;
      output.classList.remove("waiting");
      output.removeAttribute("aria-busy");
    }
  }
}

function show({ translatedText, detectedLanguage, alternatives = [], alignment = [] }) {
  // Offsets of the server count code points, and a string has UTF-16.
  state.characters = Array.from(text.value);
  state.links = alignment;
  const characters = Array.from(translatedText);
  const parts = [];
  let end = 0;
  alignment.forEach(([, [first, last]], index) => {
    if (first < end) return;
    parts.push(characters.slice(end, first).join(""));
    const word = document.createElement("span");
    word.textContent = characters.slice(first, last).join("");
    word.dataset.link = index;
    parts.push(word);
    end = last;
  });
  parts.push(characters.slice(end).join(""));
  output.replaceChildren(...parts);
  output.lang = target.value;
  element("announcement").textContent = translatedText;
  element("announcement").lang = target.value;
  output.classList.remove("waiting");
  output.removeAttribute("aria-busy");
  element("copy").disabled = !translatedText;
  showDetected(detectedLanguage);
  showAlternatives(alternatives);
}

function showDetected(detected) {
  const language = detected && state.languages.find(({ code }) => code === detected.language);
  element("detected").textContent = language ? `Detected: ${language.name} (${Math.round(detected.confidence)} %)` : "";
}

function showAlternatives(alternatives) {
  element("alternatives").hidden = !alternatives.length;
  element("alternatives").querySelector("ul").replaceChildren(
    ...alternatives.map((alternative) => {
      const button = document.createElement("button");
      button.type = "button";
      button.textContent = alternative;
      button.lang = target.value;
      button.dir = "auto";
      button.addEventListener("click", () => {
        const before = output.textContent;
        mark(-1);
        state.links = [];
        output.textContent = alternative;
        button.textContent = before;
      });
      const item = document.createElement("li");
      item.append(button);
      return item;
    }),
  );
}

// Shows the words that belong together: that with an index in `state.links`, or none.
function mark(index) {
  output.querySelectorAll(".marked").forEach((each) => each.classList.remove("marked"));
  const marks = element("source-marks");
  marks.replaceChildren();
  if (index < 0 || !state.links[index]) return;
  const [[first, last]] = state.links[index];
  for (const word of output.querySelectorAll("[data-link]")) {
    const [[start, end]] = state.links[word.dataset.link];
    word.classList.toggle("marked", start < last && end > first);
  }
  const marked = document.createElement("span");
  marked.className = "marked";
  marked.textContent = state.characters.slice(first, last).join("");
  marks.append(state.characters.slice(0, first).join(""), marked, state.characters.slice(last).join("") + "\n");
  marks.scrollTop = text.scrollTop;
}

function linkAtCaret() {
  const place = Array.from(text.value.slice(0, text.selectionStart)).length;
  return state.links.findIndex(([[first, last]]) => first <= place && place <= last);
}

function countCharacters() {
  const count = Array.from(text.value).length;
  element("count").textContent = `${count.toLocaleString("en")} characters`;
  element("count").classList.toggle("error", count > state.limit);
}

function say(message, wrong = false) {
  element("status").textContent = message;
  element("status").classList.toggle("error", wrong);
}

async function copy() {
  try {
    await navigator.clipboard.writeText(output.textContent);
    say("Copied");
  } catch {
    getSelection().selectAllChildren(output); // Without HTTPS a page may not copy.
    say("Press Ctrl+C to copy");
  }
}

text.addEventListener("input", () => schedule());
text.addEventListener("scroll", () => (element("source-marks").scrollTop = text.scrollTop));
for (const event of ["keyup", "click"]) text.addEventListener(event, () => mark(linkAtCaret()));
text.addEventListener("blur", () => mark(-1));
text.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) schedule(0);
});
output.addEventListener("mouseover", (event) => mark(Number(event.target.dataset?.link ?? -1)));
output.addEventListener("mouseleave", () => mark(-1));
source.addEventListener("change", () => {
  showTargets(target.value);
  schedule(0);
});
target.addEventListener("change", () => {
  showTargets(target.value);
  schedule(0);
});
element("swap").addEventListener("click", () => {
  const before = source.value;
  source.value = target.value;
  showTargets(before);
  text.value = output.textContent;
  schedule(0);
});
element("clear").addEventListener("click", () => {
  text.value = "";
  schedule();
  text.focus();
});
element("copy").addEventListener("click", copy);
element("key").addEventListener("change", () => schedule(0));
start().catch((error) => say(error.message, true));
