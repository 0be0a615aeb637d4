/** The page: the bar over outline, centre and inspector. Knows where things stand, not what they show. */
import { Empty } from "./Empty";
import { Help } from "./Help";
import { Inspector } from "./inspector/Inspector";
import { Legend } from "./Legend";
import { Outline } from "./outline/Outline";
import { compare } from "./selection";
import { callIndex, graph, heatmap, inspectorOpen, menu, missing, outlineWidth, problem, railOpen, streamInfo, view, windowWidth } from "./state";
import { words } from "./strings";
import { TopBar } from "./bar/TopBar";
import { VIEWS } from "./views";

/** Three columns from here; below, the outline is a rail. */
const THREE_COLUMNS = 1280;
/** Below, the inspector is a sheet. */
const TWO_COLUMNS = 960;

export function App() {
  const width = windowWidth.value;
  const narrow = width < THREE_COLUMNS;
  const sheet = width < TWO_COLUMNS;
  const wide = heatmap.value && graph.value !== null;
  const left = narrow ? "44px" : `${outlineWidth.value}px`;
  const right = sheet ? "" : " 392px";
  const columns = graph.value ? (wide ? `1fr${right}` : `${left} minmax(0, 1fr)${right}`) : "1fr";
  return (
    <div class={`page${sheet ? " sheet" : ""}${narrow ? " narrow" : ""}`} style={{ gridTemplateColumns: columns }}>
      <TopBar />
      {graph.value ? (
        <>
          {narrow && !wide ? <Rail key="rail" /> : <Outline key="outline" compact={false} />}
          {!wide && <Centre key="centre" />}
          <Inspector key="inspector" />
        </>
      ) : (
        <Empty />
      )}
      {sheet && graph.value && !inspectorOpen.value && (
        <button class="open-sheet" onClick={() => (inspectorOpen.value = true)}>{words.bar.inspector}</button>
      )}
      {menu.value === "help" && <Help />}
    </div>
  );
}

/** The outline as a rail: a swatch for each row, and a button that opens the whole of it over the picture. */
function Rail() {
  const open = railOpen.value;
  return (
    <div class="rail">
      <button class="icon" aria-label={words.bar.outline} title={words.bar.outline} aria-expanded={open} onClick={() => (railOpen.value = !open)}>
        <svg viewBox="0 0 14 14" aria-hidden="true"><path class="stroke" d="M2 3.5h10M5 7h7M5 10.5h7" /></svg>
      </button>
      <Outline compact />
      {open && <div class="drawer" style={{ width: `${outlineWidth.value}px` }}><Outline compact={false} /></div>}
    </div>
  );
}

/** With Shift a click on a call of any view puts it beside the chosen one. */
function onShiftClick(event: MouseEvent): void {
  const path = event.shiftKey && event.target instanceof Element ? event.target.closest<HTMLElement>("[data-call]")?.dataset.call : undefined;
  const call = path === undefined ? undefined : callIndex.value.get(path);
  if (call === undefined) return;
  event.stopPropagation();
  compare(call);
}

function Centre() {
  const Current = (VIEWS.find(({ key }) => key === view.value) ?? VIEWS[0]!).component;
  const trouble = problem.value || missing.value || streamInfo.value?.problem;
  return (
    <main class="centre">
      <div class="picture" onClickCapture={onShiftClick}>
        <Current />
      </div>
      {trouble && <p class="trouble" role="status"><span class="mark">▲</span> {trouble}</p>}
      <Legend />
    </main>
  );
}
