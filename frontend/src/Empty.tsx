/** What stands in the centre while there is nothing to draw: how to start, what is wrong, or a quiet word that something is coming. */
import { CopyPython } from "./inspector/CopyPython";
import { refresh, sentenceInPlace } from "./loaded";
import { slow, streams } from "./state";
import { words } from "./strings";

export function Empty() {
  const answer = streams.value;
  const sentence = sentenceInPlace();
  if (sentence) {
    return (
      <div class="empty" role="status">
        <p class="lead">{sentence}</p>
        <button class="door" onClick={() => void refresh()}>{words.empty.retry}</button>
      </div>
    );
  }
  if (answer && !answer.runs.length) {
    const code = words.empty.code("logs");
    return (
      <div class="empty" role="status">
        <h1>{words.empty.title}</h1>
        {answer.problem && <p class="lead">{answer.problem}</p>}
        <div class="tools spaced">
          <p>{words.empty.lines}</p>
          <CopyPython text={code} />
        </div>
        <pre class="code">{code}</pre>
        <p class="quiet">{words.empty.after}</p>
      </div>
    );
  }
  return <div class="empty" role="status">{slow.value && <p class="quiet">{words.empty.loading}</p>}</div>;
}
