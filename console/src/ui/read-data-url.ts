/** Reads a file as a `data:` URL. */
export function readDataUrl(file: File): Promise<string> {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.addEventListener("load", () => resolve(reader.result as string));
    reader.addEventListener("error", () => reject(reader.error ?? new Error(`Could not read ${file.name}`)));
    reader.readAsDataURL(file);
  });
}
