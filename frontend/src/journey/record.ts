/** Records what a canvas shows as WebM. */

export interface Recording {
  /** Ends it; the film arrives. */
  stop(): Promise<Blob>;
}

const KINDS = ["video/webm;codecs=vp9", "video/webm;codecs=vp8", "video/webm"];

/** Null where the browser cannot. */
export function startRecording(canvas: HTMLCanvasElement): Recording | null {
  if (typeof MediaRecorder === "undefined" || !canvas.captureStream) return null;
  const mimeType = KINDS.find((kind) => MediaRecorder.isTypeSupported(kind));
  if (!mimeType) return null;
  const recorder = new MediaRecorder(canvas.captureStream(30), { mimeType, videoBitsPerSecond: 6_000_000 });
  const parts: Blob[] = [];
  recorder.ondataavailable = ({ data }) => data.size && parts.push(data);
  recorder.start(500);
  return {
    stop: () =>
      new Promise((resolve) => {
        recorder.onstop = () => resolve(new Blob(parts, { type: "video/webm" }));
        recorder.stop();
      }),
  };
}
