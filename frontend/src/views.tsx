/** The views of the centre: one entry each. The bar, the keys and the link read this table. */
import type { ComponentType } from "preact";
import { FlowView } from "./FlowView";
import { MapsView } from "./maps/MapsView";

export interface View {
  key: string;
  hotkey: string;
  component: ComponentType;
}

export const VIEWS: View[] = [
  { key: "flow", hotkey: "1", component: FlowView },
  { key: "maps", hotkey: "3", component: MapsView },
];
