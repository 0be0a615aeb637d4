/** The entry: TensorBoard imports this module and calls `render()` in an empty page. */
import { effect } from "@preact/signals";
import { render as renderInto } from "preact";
import { App } from "./App";
import { followDarkMode, followVisibility, listenToHost, loadRunColours, takeKeysUnderPointer } from "./host";
import { listenToKeys } from "./keys";
import { refresh, startLoading } from "./loaded";
import { remember } from "./memory";
import { followValues } from "./exact";
import { followChoice } from "./selection";
import { dark } from "./state";
import { words } from "./strings";
import base from "./style/base.css";
import bar from "./style/bar.css";
import charts from "./style/charts.css";
import findings from "./style/findings.css";
import ops from "./style/ops.css";
import inspector from "./style/inspector.css";
import layout from "./style/layout.css";
import maps from "./style/maps.css";
import outline from "./style/outline.css";
import tokens from "./style/tokens.css";

function adoptStyles(sheets: string[]): void {
  document.adoptedStyleSheets = sheets.map((text) => {
    const sheet = new CSSStyleSheet();
    sheet.replaceSync(text);
    return sheet;
  });
}

export function render(): void {
  adoptStyles([tokens, base, layout, bar, outline, inspector, maps, findings, ops, charts]);
  document.documentElement.lang = "en";
  document.title = words.product;
  followDarkMode();
  followVisibility();
  takeKeysUnderPointer();
  remember();
  effect(() => {
    document.documentElement.classList.toggle("dark", dark.value);
  });
  listenToKeys();
  followChoice();
  renderInto(<App />, document.body);
  startLoading();
  followValues();
  void loadRunColours();
  listenToHost({
    dataReloaded: () => void refresh(),
    runsChanged: () => void loadRunColours(),
  });
}
