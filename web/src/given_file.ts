// A file that a reader gives to the page: dropped on it, or chosen. It is read where it is, a slice
// at a time.

// Why a file is refused: what the core says of it, and what the browser does.
export type CoreProblem =
  "notMeasurements" | "notWhole" | "changed" | "firstFormat" | "otherRelease" | "otherMeasurement";
export type FileProblem =
  CoreProblem | "empty" | "folder" | "several" | "nothing" | "unreadable" | "notNeeded";

export class FileRefused extends Error {
  constructor(readonly problem: FileProblem) {
    super(problem);
  }
}

async function bytesOf(part: Blob): Promise<Uint8Array> {
  try {
    return new Uint8Array(await part.arrayBuffer());
  } catch {
    throw new FileRefused("unreadable"); // it was moved, changed or is not to be read
  }
}

export async function sliceOf(file: File, offset: number, size: number): Promise<Uint8Array> {
  return bytesOf(file.slice(offset, offset + size));
}

// The first four bytes, which say what the file is, and up to `count` of the last.
export async function headAndTail(file: File, count: number): Promise<Uint8Array> {
  return bytesOf(new Blob([file.slice(0, 4), file.slice(Math.max(0, file.size - count))]));
}

// What was dropped, which should be one file.
export function droppedFile(dropped: DataTransfer | null): File | FileProblem {
  const [file, ...others] = dropped?.files ?? [];
  if (file === undefined) return "nothing";
  if (others.length > 0) return "several";
  const item = [...(dropped?.items ?? [])].find(({ kind }) => kind === "file");
  return item?.webkitGetAsEntry()?.isDirectory === true ? "folder" : file;
}
