/** What each frame of a journey shows: the stages of one record, or one call over the records. Reads arrays, draws nothing. */
import { heldAt, heldTensor, type Held } from "../exact";
import { count, exponent, number, shape } from "../format";
import { pictureRange } from "../maps/asPicture";
import { layerReach } from "../maps/range";
import { storeOf } from "../maps/store";
import { firstAxes, makeView } from "../maps/view";
import { statusSentence, words } from "../strings";
import { whyNot } from "../exact";
import { MOST_MAPS, type Stage } from "./scene";

const said = words.exact.journey;

/** The maps of one call in one record. */
export function stageOf(held: Held, path: string, sample: number, title: string, facts: string[]): Stage {
  const tensor = heldTensor(held, path, "output", 0);
  if (!tensor) return stageWithout(title, facts, statusSentence(whyNot(held, path, "output", 0)));
  const { shape: full } = tensor.value;
  const view = makeView(full, firstAxes(full, sample, tensor.channels), tensor.channels);
  const store = storeOf(tensor.place, view);
  const picture = pictureRange(held, tensor);
  const reach = picture?.[1] ?? layerReach(held, tensor, store.all());
  const end = Math.abs(reach) >= 1e-2 && Math.abs(reach) < 1e3 ? number(reach, 3) : exponent(reach, 3);
  const maps = said.mapsOf(Math.min(view.count, MOST_MAPS), view.count);
  const colours = picture ? said.picture(picture[0], picture[1]) : said.reach(end, held.record.batchSize);
  return { title, note: [...facts, shape(full.slice(1)), maps].filter(Boolean).join(" · "), colours, store, reach, picture, sentence: "" };
}

/** A sentence in the place of maps. */
export function stageWithout(title: string, facts: string[], sentence: string): Stage {
  return { title, note: facts.join(" · "), colours: "", store: null, reach: 0, picture: null, sentence };
}

/** Records of other steps, as they arrive. */
export class HeldSteps {
  private readonly kept = new Map<number, Held | null>();

  constructor(
    private readonly first: Held,
    private readonly arrived: () => void,
  ) {
    this.kept.set(first.step, first);
  }

  get(step: number): Held | null {
    const known = this.kept.get(step);
    if (known !== undefined) return known;
    this.kept.set(step, null);
    heldAt(this.first.run, this.first.stream, step).then(
      (held) => {
        this.kept.set(step, held);
        this.arrived();
      },
      () => undefined,
    );
    return null;
  }
}

export function stepFacts(held: Held): string[] {
  return Object.entries(held.record.losses).slice(0, 2).map(([name, value]) => `${name} ${value === null ? "–" : number(value, 4)}`);
}

export const stepTitle = (path: string, step: number): string => `${path} · ${words.bar.step(count(step))}`;
