// The package as a program uses it: node package.mjs MODEL DAMAGED; prints what happened as JSON.
import { Translator } from "../../web/dist/index.js";

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
const running = failure(translator.translate(long));
translator.close();
found.closed = await running;
console.log(JSON.stringify({ ...found, used: await failure(translator.translate("Two dogs.")) }));
