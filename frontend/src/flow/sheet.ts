/** Gives the document the flow's style sheet, once. */

import text from "./flow.css";

let adopted = false;

export function adoptSheet(): void {
  if (adopted) return;
  adopted = true;
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(text);
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
