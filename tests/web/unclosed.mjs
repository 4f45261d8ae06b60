// Programs that forget close(), but for one: node unclosed.mjs CASE MODEL; each ends by itself, and prints translations first.
import { Translator } from "../../web/dist/index.node.js";

const [, , name, model] = process.argv;
const print = (translated) => console.log(translated);
const cases = {
  awaited: async () => print(await (await Translator.load(model)).translate("Two dogs.")),
  // Nothing but the workers keeps the program running.
  pending: async () => {
    const translator = await Translator.load(model);
    for (const text of ["A man rides a bike.", "Two dogs."]) void translator.translate(text).then(print);
  },
  idle: async () => {
    const translator = await Translator.load(model);
    print(await translator.translate("A man rides a bike."));
    await new Promise((resolve) => setTimeout(resolve, 300));
    print(await translator.translate("Two dogs."));
  },
  several: async () => print((await (await Translator.load(model, { workers: 2 })).translate(["A man rides a bike.", "Two dogs."])).join("\n")),
  closed: async () => {
    const translator = await Translator.load(model, { workers: 2 });
    print(await translator.translate("Two dogs."));
    translator.close();
  },
  cancelled: async () => {
    const translator = await Translator.load(model);
    const controller = new AbortController();
    const cancelled = translator.translate(Array(200).fill("A man rides a bike."), { signal: controller.signal });
    controller.abort();
    await cancelled.catch(({ name }) => print(name));
  },
  refused: async () => (await Translator.load(model)).translate("Two dogs.", { beamSize: 0 }).catch(({ name }) => print(name)),
  absent: async () => Translator.load("/nowhere.pocketmt").catch(({ name }) => print(name)),
};
void cases[name]();
