// What a page is told of its release, beside the noisy values: page.cc writes it.

export type Outside = "error" | "clamp" | "drop" | "null" | "other";
export type Queries = "identity" | "prefix" | "range" | "hierarchy" | "custom" | "mean";

export interface AttributeFacts {
  name: string;
  size: number;
  values: number; // cells of values: all but the one of missing values
  encoding: "size" | "integers" | "cuts" | "values" | "dates" | "part" | "mean";
  nullCell: boolean;
  outside: Outside;
  queries: Queries;
  combinations: number;
  words: string; // as summary.md has them
  firstDay?: string;
  lastDay?: string;
  // Of a number whose mean is asked: its range, and its steps unless it is a whole number.
  low?: string;
  high?: string;
  step?: string;
}

export interface PrivacyFacts {
  replaceOne: boolean;
  identifier: string;
  maxRows: number;
  suspicion: string;
  isWeak: boolean;
  epsilon: string;
  delta: string;
  deltaInWords: string; // in English
  rho: string;
  mu: string | null;
  neighbours: string;
  change: string;
  numEarlier?: number; // releases that this one is combined with
}

// The measurement file that the page was made from.
export interface FileFacts {
  name: string;
  bytes: number;
  isReadable: boolean; // by a page: files of format 1 are not
}

export interface Facts {
  title: string;
  description: string;
  publisher: string;
  date: string;
  contact: string;
  licence: string;
  confidence: number;
  isQuery: boolean;
  version: string;
  planDigest: string;
  typicalError: string;
  privacy: PrivacyFacts;
  attributes: AttributeFacts[];
  file: FileFacts;
  numTables: number;
  numLeftOut: number;
  leftOut: string[];
}

export function readFacts(): Facts {
  return JSON.parse(document.getElementById("facts")?.textContent ?? "{}") as Facts;
}
