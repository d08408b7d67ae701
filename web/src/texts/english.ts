// Every text of the reader's page in English. What is said of privacy and of attributes is what
// summary.md says. `code` and **strong** are the only marks.

import type { Quantity } from "../core";
import type { AttributeFacts, Facts, PrivacyFacts } from "../facts";
import { citedSource, code } from "./text_parts";
import type { AttributeWords, FileProblemTexts } from "./text_parts";

const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;

const coveredReleases = (numEarlier: number): string => {
  if (numEarlier === 0) return "this release alone.";
  const earlier = numEarlier === 1 ? "the earlier one" : `the ${numEarlier} earlier ones`;
  return `this release together with ${earlier} that it is combined with.`;
};

export const en = {
  languageName: "English",
  defaultTitle: "A differentially private release",
  skip: "Skip to the tables",
  language: "Language",
  sections: {
    overview: "Overview",
    tables: "Tables",
    questions: "Questions",
    variables: "Variables",
    use: "Use and cite",
  },
  loading: "The numbers are being unpacked ...",
  failed: (message: string): string =>
    `This page could not be started: ${message}. A current version of Chrome, Edge, Firefox or Safari is needed.`,
  publishedBy: "Published by",
  date: "Date",
  contact: "Contact",
  licence: "Licence",
  contents: "Contents",
  contentsValue: (tables: number, attributes: number): string =>
    `${counted(tables, "table")} of ${counted(attributes, "attribute")}`,
  rowTitle: "What is counted",
  row: (privacy: PrivacyFacts, isQuery: boolean): string[] => {
    const paragraphs = [];
    if (isQuery) {
      paragraphs.push(
        "The data is the result of a query, and a row is a row of that result. If the query joins tables, groups rows or limits their number, one row of the original tables may affect several rows, and is then protected less than one row.",
      );
    }
    const identifier = code(privacy.identifier);
    const rows = privacy.maxRows === 1 ? "one row was" : `${privacy.maxRows} rows were`;
    paragraphs.push(
      privacy.identifier === ""
        ? "The tables count rows of the data. If a person can have several rows, each is counted."
        : `The tables count rows of the data. For each ${identifier}, at most ${rows} counted, chosen at random, and rows without one were left out. So the counts can be below those of all rows.`,
    );
    return paragraphs;
  },
  privateTitle: "How private it is",
  private: (privacy: PrivacyFacts): string[] => {
    const suspicion = privacy.replaceOne
      ? "which of two rows is the one in the data"
      : privacy.identifier === ""
        ? "whether a certain row is in the data"
        : `whether the rows of a certain ${code(privacy.identifier)} are in the data`;
    const paragraphs = [
      `Suppose that someone knows all of the data but one thing: ${suspicion}. They think that both are equally likely: 50 %. After they have seen this release, they can be at most ${privacy.suspicion} sure of either. This holds whatever they know and compute, except with a probability of at most ${privacy.deltaInWords}.`,
    ];
    if (privacy.isWeak) {
      paragraphs.push("**This promise is weak.** In the worst case it leaves almost no doubt.");
    }
    if (privacy.replaceOne) {
      paragraphs.push("The number of rows is not protected: it is taken as known.");
    }
    if (privacy.identifier === "") {
      paragraphs.push(
        "This is the promise for one row. A person with several rows is protected less.",
      );
    }
    paragraphs.push(
      "The promise is about what this release adds to what is known. It does not hide what follows from the rest of the population. It covers " +
        coveredReleases(privacy.numEarlier ?? 0),
    );
    return paragraphs;
  },
  technical: "Technical details",
  technicalText: (privacy: PrivacyFacts): string[] => [
    `(${privacy.epsilon}, ${privacy.delta})-differential privacy, zero-concentrated differential privacy with rho = ${privacy.rho}${
      privacy.mu === null ? "" : `, and Gaussian differential privacy with mu = ${privacy.mu}`
    }; neighbouring tables: ${privacy.neighbours}. The noise is discrete Gaussian, drawn exactly. The figures are rounded up, never down, and hold for that noise.${
      privacy.identifier === "" ? " For a person with k rows, rho is k^2 times as large." : ""
    }`,
  ],
  exactTitle: "How exact it is",
  exact: (facts: Facts, threshold: string): string[] => [
    `A typical answer is off by about ${facts.typicalError}. The noise is as likely to raise an answer as to lower it, so small counts may be negative.`,
    `Every number of this page comes with its standard deviation and an interval. An answer whose standard deviation is more than ${threshold} of it is marked as unreliable. These errors come from the noise alone: errors in the data are not included.`,
    ...(facts.privacy.numEarlier
      ? [
          `The answers are the best estimates from ${facts.privacy.numEarlier + 1} releases of the same data together, so their errors are smaller than those of each alone.`,
        ]
      : []),
    ...(facts.attributes.some((attribute) => attribute.queries === "mean")
      ? [
          "Means have intervals by Fieller's method. Where rows are too few for the noise, there is no mean. A mean close to 0 is marked as unreliable even if it is known well: look at its interval.",
        ]
      : []),
  ],
  leftOut: (count: number, names: string[]): string =>
    `${counted(count, "table")} did not fit into this page: ${names.join("; ")}${
      count > names.length ? "; ..." : ""
    }.`,
  file: {
    title: "More tables",
    ask: (name: string, megabytes: string): string =>
      `This page reads them from \`${name}\` (${megabytes} MB), which is published beside it: drop the file on this page, or choose it. It is read on this computer and sent nowhere.`,
    notHere: (name: string): string =>
      `They can be made from \`${name}\` with residua; its format is too old for this page.`,
    choose: (name: string): string => `Choose ${name}`,
    opening: (name: string): string => `${name} is being opened ...`,
    isOpen: (name: string, count: number): string =>
      `${name} is open. All ${counted(count, "table")} can be chosen and asked for.`,
    reading: (name: string, part: string): string => `Reading ${name}: ${part}`,
    notInPage: (attribute: string): string => `${attribute} (not in this page)`,
    tableLeftOut: (table: string): string => `The table ${table} did not fit into this page.`,
    questionLeftOut: (table: string): string =>
      `This question needs the table ${table}, which did not fit into this page.`,
    questionTooLarge: (count: string, name: string): string =>
      `This question needs ${count} values of ${name}: too many for a page. The command line answers it:`,
    drop: (name: string): string => `Drop ${name} here`,
    problems: {
      empty: (name) => `${name} is empty. Get it again.`,
      folder: (_name, wanted) => `That is a folder. Give this page the file ${wanted} alone.`,
      several: (_name, wanted) => `These are several files. Give this page ${wanted} alone.`,
      nothing: (_name, wanted) => `That is not a file. Give this page the file ${wanted}.`,
      unreadable: (name) =>
        `${name} cannot be read: it was moved or changed, or you may not open it. Choose it again.`,
      notNeeded: () => "This page has all its tables. It needs no file.",
      notMeasurements: (name, wanted) =>
        `${name} is not a measurement file. Give this page ${wanted}.`,
      notWhole: (name) => `${name} is not whole: its end is missing. Get it again.`,
      changed: (name) =>
        `${name} was changed or is damaged: it does not fit its digests. Get it again.`,
      firstFormat: (name) =>
        `${name} has format 1, which residua wrote up to version 0.4 and pages cannot read. Use residua tables or residua query.`,
      otherRelease: (name, wanted) =>
        `${name} belongs to another release. Give this page the ${wanted} that was published with it.`,
      otherMeasurement: (name, wanted) =>
        `${name} was made with the same plan, but it is another measurement. Give this page the ${wanted} that was published with it.`,
    } satisfies FileProblemTexts as FileProblemTexts,
  },

  tablesIntro:
    "Choose up to three attributes. The picture and the numbers beside it show the same answers.",
  attributeChoice: ["First attribute", "Second attribute", "Third attribute"],
  none: "none",
  total: "All rows",
  view: "Show",
  views: {
    cells: "Counts",
    prefixes: "Running totals",
    planned: "As published",
  },
  quantity: "Quantity",
  quantities: { count: "Counts", sum: "Sums", mean: "Means" },
  quantityOf: {
    count: (name: string): string => `Rows with ${name}`,
    sum: (name: string): string => `Sum of ${name}`,
    mean: (name: string): string => `Mean of ${name}`,
  } satisfies Record<Quantity, (name: string) => string>,
  by: (quantity: string, names: string): string => `${quantity} by ${names}`,
  noMean: "too few rows",
  noMeanSentence: "There are too few rows for a mean at this noise. Ask for more rows at once.",
  // The same views of a table with means, of which "Counts" is a quantity.
  viewsOfMeans: {
    cells: "Each value",
    prefixes: "All up to each value",
    planned: "As published",
  },
  level: (name: string): string => `Level of ${name}`,
  levelName: (level: number): string => (level === 0 ? "values" : `groups, level ${level}`),
  confidence: "Confidence",
  chart: "Chart",
  numbers: "Numbers",
  columns: {
    estimate: "Estimate",
    std_dev: "Standard deviation",
    ci_lower: "From",
    ci_upper: "To",
    reliability: "Reliability",
  },
  reliable: "good",
  unreliable: "unreliable",
  legend: {
    bars: "Bars are estimates. The line at the end of each is its interval.",
    curve: "The line shows estimates, the band their intervals.",
    dots: "Dots are means. The line through each is its interval.",
    cutOff: (low: string, high: string): string =>
      `Intervals are cut off where no mean can be: below ${low} and above ${high}.`,
    heatmap: (isDark: boolean): string =>
      `${isDark ? "Brighter" : "Darker"} cells have larger estimates.`,
    unreliableDots: "Open dots are unreliable.",
    missing: "Where rows are too few for the noise, there is no mean.",
    missingCells: "Cells with a dash have no mean: they have too few rows.",
    unreliableBars: "Pale bars with a dashed outline are unreliable.",
    unreliableCells: "Cells marked with a cross are unreliable.",
    unreliableCurve: "Open circles are unreliable answers.",
    multiples: (name: string): string => `One small chart for each value of ${name}.`,
    tooLarge: (count: string): string =>
      `This table has ${count} answers: too many for a picture. Its numbers can be downloaded.`,
    tooLargeToShow: (count: string): string =>
      `This table has ${count} answers: too many for a page. Ask for some of them below, or make all of them with:`,
  },
  summary: (count: string, unreliable: string, missing: string, confidence: string): string =>
    `${count} ${count === "1" ? "answer" : "answers"}, ${unreliable} of them unreliable${
      missing === "0" ? "" : ` and ${missing} without a mean`
    }. Intervals at ${confidence} confidence.`,
  sortBy: (column: string): string => `Sort by ${column}`,
  showAll: (count: string): string => `Show all ${count} rows`,
  rowsShown: (shown: string, count: string): string => `${shown} of ${count} rows are shown.`,
  download: "Download",
  asCsv: "Numbers (CSV)",
  asSvg: "Picture (SVG)",
  asPng: "Picture (PNG)",
  copyLink: "Copy the address of this view",
  copied: "Copied.",

  questionsIntro:
    "Ask for the number of rows with certain values. Conditions on several attributes are answered if they were measured together.",
  question: "Question",
  secondQuestion: "Second question",
  questionHint: "such as age=18..30 sex=female; empty for all rows",
  askFor: "Ask for",
  askQuantity: {
    count: (): string => "the number of rows",
    sum: (name: string): string => `the sum of ${name}`,
    mean: (name: string): string => `the mean of ${name}`,
  } satisfies Record<Quantity, (name: string) => string>,
  addCondition: "Add a condition",
  condition: "Condition on",
  choose: "choose an attribute",
  from: "from",
  to: "to",
  values: "Values",
  remove: "Remove",
  compare: "Compare with a second question",
  answer: "Answer",
  answerSentence: (
    quantity: Quantity,
    name: string,
    estimate: string,
    lower: string,
    upper: string,
    confidence: string,
  ): string => {
    const about = {
      count: `About ${estimate} rows. With ${confidence} confidence the true number`,
      sum: `The sum of ${name} is about ${estimate}. With ${confidence} confidence the true sum`,
      mean: `The mean of ${name} is about ${estimate}. With ${confidence} confidence the true mean`,
    }[quantity];
    return `${about} is between ${lower} and ${upper}.`;
  },
  standardDeviation: "Standard deviation",
  interval: (confidence: string): string => `Interval, ${confidence}`,
  comparison: {
    first: "First",
    second: "Second",
    difference: "Difference, first − second",
    sum: "Sum",
    ratio: "Ratio, first / second",
    noRatio: "the second is too close to 0 compared with its noise",
    correlation: (value: string): string =>
      `The noise of the two answers has a correlation of ${value}; it is part of these intervals.`,
    deltaMethod: "Errors of means, and what follows from them, are by the delta method.",
  },
  isUnreliable: (threshold: string): string =>
    `Unreliable: the standard deviation is more than ${threshold} of the answer.`,
  commandLine: "The same on the command line",

  variablesIntro:
    "The attributes of the tables: their cells, what was counted, and what became of values that have no cell. None of this was read from the data.",
  describe: ((facts) => facts.words) as (facts: AttributeFacts, words: AttributeWords) => string,

  citeTitle: "How to cite",
  cite: (facts: Facts, title: string): string =>
    `${citedSource(facts, title)}. (${facts.privacy.epsilon}, ${facts.privacy.delta})-differential privacy (${facts.privacy.rho}-zCDP), ${facts.privacy.change}; discrete Gaussian noise; residua ${facts.version}. Plan ${facts.planDigest}.`,
  citeView:
    "Each table and each question of this page has its own address: copy it from the address bar, or with the button below the table.",
  loadTitle: "How to load the tables",
  load: {
    python: "Python, with pandas or with residua",
    r: "R",
    sheet: "Spreadsheet",
    sheetText:
      "Open a file of the folder tables/, or a CSV file downloaded from this page: one row per answer, with the columns estimate, std_dev, ci_lower and ci_upper.",
    shell: "Command line",
  },
  digest: "Digest of the plan",
  copy: "Copy",
  madeWith: (version: string): string =>
    `Made with residua ${version}. This page works without a network, and sends nothing anywhere.`,
};
