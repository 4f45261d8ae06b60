// Arguments that are refused: node arguments.mjs MODEL; prints the errors, and the progress of loading, as JSON.
import { Translator } from "../../web/dist/index.node.js";

const [, , model] = process.argv;
const failure = async (promise) => {
  const error = await promise.then(() => undefined, (reason) => reason);
  return [error?.name, error?.message];
};
const progress = [];
const translator = await Translator.load(model, { onProgress: (each) => progress.push(each) });
const given = [5, undefined, null, { text: "Two dogs." }, ["Two dogs.", 5], new Array(1)];
const options = [{ beam_size: 1 }, { terms: new Map() }, { beamSize: 1, workers: 2 }, "de", null];
const types = [{ beamSize: "4" }, { maxLength: null }, { shortlist: 0 }, { targetLanguage: null }, { signal: {} }, { onTime: 5 }];
const loading = [{ digest: 5 }, { workers: "2" }, { cache: "no" }, { signal: 5 }, { onProgress: "log" }];
const onProgress = () => {
  throw new RangeError("no progress");
};
const found = {
  texts: await Promise.all(given.map((each) => failure(translator.translate(each)))),
  options: await Promise.all(options.map((each) => failure(translator.translate("Two dogs.", each)))),
  types: await Promise.all(types.map((each) => failure(translator.translate("Two dogs.", each)))),
  loading: await failure(Translator.load(model, { worker: 2 })),
  loadingTypes: await Promise.all(loading.map((each) => failure(Translator.load(model, each)))),
  urls: await Promise.all([undefined, null, 5].map((each) => failure(Translator.load(each)))),
  thrown: await failure(Translator.load(model, { onProgress })),
  progress,
  after: await translator.translate("Two dogs.", { beamSize: 1, signal: undefined, onTime: undefined }),
};
console.log(JSON.stringify(found));
