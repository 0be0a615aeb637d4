/** Why a record has no numbers of weights, and the way to the stream that has them. */
import { record, runInfo, stream } from "../state";
import { trainingWords } from "../words/training";

/** The stream of the training that a probe stands beside; undefined where the run has none. */
function trainingStream(): string | undefined {
  const wanted = stream.value.endsWith("_probe") ? stream.value.slice(0, -"_probe".length) : "train";
  return runInfo.value?.streams.find((each) => each.stream === wanted && each.stream !== stream.value && each.records > 0)?.stream;
}

export function NoWeightNumbers() {
  if (record.value?.phase !== "inference") return <p class="sentence">{trainingWords.weights.notRecorded}</p>;
  const training = trainingStream();
  if (training === undefined) return <p class="sentence">{trainingWords.weights.notRecordedOrTrained}</p>;
  return (
    <p class="sentence">
      {trainingWords.weights.notTrained(stream.value)} {trainingWords.weights.elsewhere(training)}{" "}
      <button class="link" onClick={() => (stream.value = training)}>{trainingWords.weights.goThere(training)}</button>
    </p>
  );
}
