// Every text of the page, in every language: one file each. English comes first: the others have its
// type, so that none can be forgotten.

import { en } from "./texts/english";
import { de } from "./texts/german";

export type Language = "en" | "de";
export type Texts = typeof en;

export const texts: Record<Language, Texts> = { en, de };
