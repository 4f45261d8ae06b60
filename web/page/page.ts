/** The page: translates what is typed, and shows size, speed and memory. */
import { type ModelInfo, Translator } from "../source/index.js";
import { type Offer, keepOffers, nameOf, readOffers } from "./offers.js";

const WAIT = 150; // milliseconds after the last key
const BATCH_SIZE = 8; // sentences that a worker still translates when the text changes
const ENGLISH = /^eng?(?![a-z])/i; // codes such as en, en-GB and eng_Latn

function element<Kind extends HTMLElement>(id: string): Kind {
  return document.getElementById(id) as Kind;
}

const source = element<HTMLTextAreaElement>("source");
const target = element<HTMLTextAreaElement>("target");
const bar = element<HTMLProgressElement>("progress");
const languages = element("languages");
const from = element<HTMLSelectElement>("from");
const into = element<HTMLSelectElement>("into");
const models = element<HTMLSelectElement>("models");
const opener = element<HTMLInputElement>("file");
const facts = new Map<string, string>();
let listed: readonly Offer[] = []; // by models.json
let offers: readonly Offer[] = []; // these, and files that were opened
let translator: Translator | undefined;
let loading: AbortController | undefined;
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

/** Clears what is known of the last model and translation. */
function clear(): void {
  showLanguages(undefined);
  facts.clear();
  element("facts").replaceChildren();
  element("licence").textContent = target.value = "";
}

function showError(error: unknown, offer?: Offer): void {
  const place = element("error");
  const message = error instanceof Error ? error.message : String(error ?? "");
  place.hidden = error === undefined;
  // The address of a file that was opened says nothing.
  place.textContent = offer?.name === undefined ? message : message.replaceAll(offer.url, offer.name);
}

/** Shows the languages of a model, to choose from if there are several; none without a model. */
function showLanguages(info: ModelInfo | undefined): void {
  const { sourceLanguages: sources, targetLanguages: targets } = info ?? { sourceLanguages: [], targetLanguages: [] };
  from.replaceChildren(...sources.map((code) => new Option(code)));
  into.replaceChildren(...targets.map((code) => new Option(code)));
  const several = sources.length > 1 || targets.length > 1;
  from.hidden = into.hidden = !several;
  languages.hidden = several;
  languages.textContent = info === undefined ? "No model" : `${sources.join(", ")} → ${targets.join(", ")}`;
  if (info === undefined) return;
  const english = sources.findIndex((code) => ENGLISH.test(code));
  from.selectedIndex = Math.max(english, 0);
  into.selectedIndex = Math.max(targets.findIndex((code) => code !== from.value), 0);
  // The text that the page begins with is English.
  if (!edited) source.value = english < 0 ? "" : source.defaultValue;
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(1)} MB`;
}

/** Loads a model in place of the one that is loaded, or being loaded. */
async function load(offer: Offer): Promise<void> {
  loading?.abort();
  running?.abort();
  translator?.close();
  translator = undefined;
  loading = new AbortController();
  const { signal } = loading;
  bar.hidden = false;
  bar.removeAttribute("value");
  showError(undefined);
  const start = performance.now();
  try {
    const found = await Translator.load(offer.url, {
      cache: !offer.url.startsWith("blob:"),
      digest: offer.digest,
      signal,
      onProgress: ({ loadedBytes, totalBytes }) => {
        if (!signal.aborted && totalBytes !== undefined) bar.value = loadedBytes / totalBytes;
      },
    });
    if (signal.aborted) return found.close();
    translator = found;
    showLanguages(found.info);
    show("Model file", megabytes(found.info.fileBytes));
    show("Loaded in", `${Math.round(performance.now() - start)} ms`);
    show("Instruction set", found.info.instructionSet);
    element("licence").textContent = `Licence of the model: ${found.info.licence || "not stated in the file"}`;
    // Without a cache, or with a full one, the page works online.
    if (listed.includes(offer)) void keepOffers(listed, offer).catch(() => {});
    await translate();
  } catch (error) {
    if (signal.aborted) return;
    clear();
    showError(error, offer);
  } finally {
    if (!signal.aborted) bar.hidden = true;
  }
}

async function translate(): Promise<void> {
  running?.abort();
  running = new AbortController();
  const { signal } = running;
  source.lang = from.value.replaceAll("_", "-");
  target.lang = into.value.replaceAll("_", "-");
  if (translator === undefined) return;
  const { value: text } = source;
  let milliseconds = 0;
  const onTime = (taken: number): void => void (milliseconds = taken);
  const options = { signal, onTime, batchSize: BATCH_SIZE, sourceLanguage: from.value, targetLanguage: into.value };
  try {
    const translated = await translator.translate(text, options);
    if (signal.aborted) return;
    target.value = translated;
    const words = text.split(/\s+/).filter((word) => word !== "").length;
    show("Translated in", `${Math.round(milliseconds)} ms`);
    show("Speed", `${Math.round((1000 * words) / Math.max(milliseconds, 1))} words/s`);
    show("Engine memory", megabytes(translator.info.memoryBytes));
    document.body.dataset["translated"] = "yes";
    showError(undefined);
  } catch (error) {
    if (!signal.aborted) showError(error);
  }
}

/** Shows the models to choose from, if there are several. */
function list(all: readonly Offer[], chosen: number): void {
  offers = all;
  models.replaceChildren(...offers.map((offer) => new Option(nameOf(offer))));
  models.selectedIndex = chosen;
  models.hidden = offers.length === 1;
}

source.addEventListener("input", () => {
  edited = true;
  clearTimeout(timer);
  timer = window.setTimeout(() => void translate(), WAIT);
});
for (const choice of [from, into]) choice.addEventListener("change", () => void translate());
models.addEventListener("change", () => void load(offers[models.selectedIndex] as Offer));
opener.addEventListener("change", () => {
  const file = opener.files?.[0];
  opener.value = ""; // so that the same file can be opened again
  if (file === undefined) return;
  const opened: Offer = { url: URL.createObjectURL(file), name: file.name };
  for (const { name, url } of offers) if (name === file.name) URL.revokeObjectURL(url); // else the file stays in memory
  const others = offers.filter(({ name }) => name !== file.name);
  list([...others, opened], others.length);
  void load(opened);
});

/** Loads the model that the address names, or the first of models.json, unless a file was opened meanwhile. */
async function start(): Promise<void> {
  const named = new URLSearchParams(location.search).get("model");
  try {
    if (named === null) listed = await readOffers();
    const found = named === null ? listed : [{ url: named, name: named }];
    const chosen = loading === undefined ? 0 : found.length + models.selectedIndex;
    list([...found, ...offers], chosen);
    if (loading === undefined) await load(found[0] as Offer);
  } catch (error) {
    if (loading !== undefined) return;
    bar.hidden = true;
    showLanguages(undefined);
    showError(error);
  }
}

void navigator.serviceWorker?.register("service_worker.js").catch(() => {});
void start();
