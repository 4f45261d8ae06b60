/** The page: translates what is typed, and shows size, speed and memory. */
import { CancelledError, Translator } from "../source/index.js";

const MODEL = new URLSearchParams(location.search).get("model") ?? "model.pocketmt";
const WAIT = 150; // milliseconds after the last key

function element<Kind extends HTMLElement>(id: string): Kind {
  return document.getElementById(id) as Kind;
}

const source = element<HTMLTextAreaElement>("source");
const target = element<HTMLTextAreaElement>("target");
const bar = element<HTMLProgressElement>("progress");
const facts = new Map<string, string>();
let translator: Translator | undefined;
let loads = 0;
let running: AbortController | undefined;
let timer = 0;

function show(name: string, value: string): void {
  facts.set(name, value);
  const list = [...facts].map(([term, fact]) => {
    const entry = document.createElement("div");
    entry.append(Object.assign(document.createElement("dt"), { textContent: term }));
    entry.append(Object.assign(document.createElement("dd"), { textContent: fact }));
    return entry;
  });
  element("facts").replaceChildren(...list);
}

function showError(error: unknown): void {
  const place = element("error");
  place.hidden = error === undefined;
  place.textContent = error instanceof Error ? error.message : String(error ?? "");
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

async function load(url: string, cache: boolean): Promise<void> {
  const turn = ++loads;
  translator?.close();
  translator = undefined;
  bar.hidden = false;
  bar.removeAttribute("value");
  showError(undefined);
  const start = performance.now();
  try {
    const found = await Translator.load(url, {
      cache,
      onProgress: ({ loadedBytes, totalBytes }) => {
        if (totalBytes !== undefined) bar.value = loadedBytes / totalBytes;
      },
    });
    if (turn !== loads) return found.close();
    translator = found;
    const { sourceLanguages, targetLanguages, fileBytes, instructionSet } = found.info;
    element("languages").textContent = `${sourceLanguages.join(", ")} → ${targetLanguages.join(", ")}`;
    show("Model file", megabytes(fileBytes));
    show("Loaded in", `${Math.round(performance.now() - start)} ms`);
    show("Instruction set", instructionSet);
    await translate();
  } catch (error) {
    element("languages").textContent = "No model";
    showError(error);
  } finally {
    bar.hidden = true;
  }
}

async function translate(): Promise<void> {
  running?.abort();
  running = new AbortController();
  if (translator === undefined) return;
  const text = source.value;
  const start = performance.now();
  try {
    target.value = await translator.translate(text, { signal: running.signal });
    const seconds = (performance.now() - start) / 1000;
    const words = text.split(/\s+/).filter((word) => word !== "").length;
    show("Translated in", `${Math.round(seconds * 1000)} ms`);
    show("Speed", `${Math.round(words / seconds)} words/s`);
    show("Engine memory", megabytes(translator.info.memoryBytes));
    document.body.dataset["translated"] = "yes";
    showError(undefined);
  } catch (error) {
    if (!(error instanceof CancelledError)) showError(error);
  }
}

source.addEventListener("input", () => {
  clearTimeout(timer);
  timer = window.setTimeout(() => void translate(), WAIT);
});
element<HTMLInputElement>("file").addEventListener("change", (event) => {
  const file = (event.target as HTMLInputElement).files?.[0];
  if (file !== undefined) void load(URL.createObjectURL(file), false);
});
void navigator.serviceWorker?.register("service_worker.js").catch(() => {});
void load(MODEL, true);
