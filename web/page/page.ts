/** The page: translates what is typed, and shows size, speed and memory. */
import { CancelledError, Translator } from "../source/index.js";

const MODELS = "models.json";
const WAIT = 150; // milliseconds after the last key

/** A model that the page offers, as models.json describes it. */
interface Offer {
  readonly url: string;
  /** SHA-256 that the file must have; undefined: any. */
  readonly digest?: string;
  /** Codes of languages. */
  readonly source?: readonly string[];
  readonly target?: readonly string[];
}

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
let edited = source.value !== source.defaultValue; // Browsers restore the text of the last visit.

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

async function load({ url, digest }: Offer, cache: boolean): Promise<void> {
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
      digest,
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
    // The text that the page begins with is English.
    if (!edited) source.value = sourceLanguages.some((code) => /^en\b/i.test(code)) ? source.defaultValue : "";
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
  edited = true;
  clearTimeout(timer);
  timer = window.setTimeout(() => void translate(), WAIT);
});
element<HTMLInputElement>("file").addEventListener("change", (event) => {
  const file = (event.target as HTMLInputElement).files?.[0];
  if (file !== undefined) void load({ url: URL.createObjectURL(file) }, false);
});

async function readOffers(): Promise<readonly Offer[]> {
  const response = await fetch(MODELS);
  if (!response.ok) throw new Error(`${MODELS}: the server answers ${response.status}`);
  const offers = (await response.json()) as Offer[];
  if (offers.length === 0) throw new Error(`${MODELS} lists no model: open a model file`);
  return offers;
}

/** Loads the model that the address names, or the first of models.json; several are offered in a list. */
async function start(): Promise<void> {
  const named = new URLSearchParams(location.search).get("model");
  if (named !== null) return load({ url: named }, true);
  try {
    const offers = await readOffers();
    const choice = element<HTMLSelectElement>("models");
    choice.replaceChildren(...offers.map((offer) => new Option(nameOf(offer))));
    choice.hidden = offers.length === 1;
    const chosen = (): Promise<void> => load(offers[choice.selectedIndex] as Offer, true);
    choice.addEventListener("change", () => void chosen());
    await chosen();
  } catch (error) {
    bar.hidden = true;
    element("languages").textContent = "No model";
    showError(error);
  }
}

function nameOf({ source, target, url }: Offer): string {
  const file = url.slice(url.lastIndexOf("/") + 1);
  return source === undefined || target === undefined ? file : `${source.join(", ")} → ${target.join(", ")} (${file})`;
}

void navigator.serviceWorker?.register("service_worker.js").catch(() => {});
void start();
