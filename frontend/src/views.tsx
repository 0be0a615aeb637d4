/** The views of the centre: one entry each. The bar, the keys and the link read this table. */
import type { ComponentType } from "preact";
import { FlowView } from "./FlowView";
import { JourneyView } from "./journey/JourneyView";
import { MapsView } from "./maps/MapsView";

export interface View {
  key: string;
  hotkey: string;
  component: ComponentType;
}

export const VIEWS: View[] = [
  { key: "flow", hotkey: "1", component: FlowView },
  { key: "journey", hotkey: "2", component: JourneyView },
  { key: "maps", hotkey: "3", component: MapsView },
];
