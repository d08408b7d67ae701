// Numbers as readers see them: as many digits as the error bar supports.

import type { Language } from "./texts";
import { decimalComma } from "./texts/text_parts";

// An answer is unreliable if its standard deviation is more than this part of it.
export const kUnreliable = 0.3;

export function isUnreliable(estimate: number, stdDev: number): boolean {
  return !(stdDev <= kUnreliable * Math.abs(estimate));
}

// Two digits of the standard deviation, and no more decimals than that for the estimate.
function decimalsFor(stdDev: number): number {
  if (!(stdDev > 0)) return 0;
  return Math.min(10, Math.max(0, 1 - Math.floor(Math.log10(stdDev))));
}

export class Numbers {
  constructor(readonly language: Language) {}

  private format(value: number, options: Intl.NumberFormatOptions): string {
    const text = new Intl.NumberFormat(this.language, options).format(value);
    return text.replace(/^-(?=[0.,]*$)/, "").replace(/^-/, "−");
  }

  count(value: number): string {
    return this.format(value, { maximumFractionDigits: 0 });
  }

  estimate(value: number, stdDev: number): string {
    const digits = decimalsFor(stdDev);
    return this.format(value, {
      minimumFractionDigits: digits,
      maximumFractionDigits: digits,
    });
  }

  stdDev(value: number): string {
    return this.estimate(value, value);
  }

  digits(value: number, digits: number): string {
    return this.format(value, { maximumSignificantDigits: digits });
  }

  // A number that came as English text.
  english(text: string): string {
    return this.language === "de" ? decimalComma(text) : text;
  }

  percent(part: number): string {
    return this.format(part, { style: "percent", maximumFractionDigits: 4 });
  }
}
