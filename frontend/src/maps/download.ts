/** Hands the browser a file to keep. */

/** The file travels in the link itself: the page makes no addresses of its own. */
export function download(name: string, parts: Blob): void {
  const reader = new FileReader();
  reader.onload = () => {
    const link = document.createElement("a");
    link.href = reader.result as string;
    link.download = name;
    link.click();
  };
  reader.readAsDataURL(parts);
}

/** A call path as a file's name. */
export const fileName = (...parts: (string | number)[]): string => parts.join("-").replaceAll(/[^\w.#-]+/g, "_").replace(/^[_.]+/, "");
