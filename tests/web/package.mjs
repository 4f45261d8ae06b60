// The package as a program uses it: node package.mjs MODEL DAMAGED; prints what happened as JSON.
import { Translator } from "../../web/dist/index.node.js";

const [, , model, damaged] = process.argv;
const failure = async (promise) => {
  const error = await promise.then(() => undefined, (reason) => reason);
  return [error?.name, error?.message];
};
const translator = await Translator.load(model);
const signal = AbortSignal.timeout(50);
const long = Array(3000).fill("A man rides a bike.");
const found = {
  text: await translator.translate("A man rides a bike.\r\n\nTwo dogs."),
  lines: await translator.translate(["Two dogs.", ""], { beamSize: 1 }),
  cancelled: await failure(translator.translate(long, { signal })),
  refused: await failure(translator.translate("Two dogs.", { beamSize: 0 })),
  stopped: await failure(translator.translate("Two dogs.", { sourceLanguage: "xx" })),
  after: await translator.translate("Two dogs."),
  digest: await failure(Translator.load(model, { digest: "0".repeat(64) })),
  damaged: await failure(Translator.load(damaged)),
  absent: await failure(Translator.load("/nowhere.pocketmt")),
};
const pair = await Translator.load(model, { workers: 2 });
while (pair.workers < 2) await new Promise((resolve) => setTimeout(resolve, 20));
const lines = Array.from({ length: 40 }, (_, index) => (index % 7 ? `${index} dogs run in the garden.` : ""));
found.shared = [await pair.translate(lines), await translator.translate(lines)];
found.sharedText = await pair.translate("A man rides a bike.\r\n\nTwo dogs.");
found.sharedMemory = pair.info.memoryBytes > 1.5 * translator.info.memoryBytes;
found.sharedCancelled = await failure(pair.translate(long, { signal: AbortSignal.timeout(50) }));
found.sharedAfter = await Promise.all(["Two dogs.", "Two dogs.", "Two dogs."].map((text) => pair.translate(text)));
pair.close();
found.workers = await failure(Translator.load(model, { workers: 0 }));
const running = failure(translator.translate(long));
translator.close();
found.closed = await running;
found.used = await failure(translator.translate("Two dogs."));
found.asked = await failure((async () => translator.info)());
console.log(JSON.stringify(found));
