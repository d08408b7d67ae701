// Every text of the page, in every language. English comes first: the others have its type, so that
// none can be forgotten. What is said of privacy and of attributes is, in English, what summary.md
// says. `code` and **strong** are the only marks.

import type { AttributeFacts, Facts, PrivacyFacts } from "./facts";
import type { FileProblem } from "./given_file";

export type Language = "en" | "de";

// Text from outside as code on one line.
const code = (text: string): string =>
  "`" + text.replace(/\p{Cc}/gu, " ").replaceAll("`", "'") + "`";

const kMaxLabels = 8;

function firstFew(labels: string[]): string {
  if (labels.length <= kMaxLabels) return labels.map(code).join(", ");
  const first = labels
    .slice(0, kMaxLabels - 2)
    .map(code)
    .join(", ");
  return `${first}, ..., ${code(labels[labels.length - 1] ?? "")}`;
}

function listed(items: string[], last: string): string {
  return items.length === 1
    ? (items[0] ?? "")
    : `${items.slice(0, -1).join(", ")} ${last} ${items[items.length - 1]}`;
}

// Publisher (date): title.
function citedSource(facts: Facts, title: string): string {
  const date = facts.date === "" ? "" : ` (${facts.date})`;
  return facts.publisher === "" ? `${title}${date}` : `${facts.publisher}${date}: ${title}`;
}

const counted = (count: number, noun: string): string =>
  `${count} ${noun}${count === 1 ? "" : "s"}`;

// Of an attribute: its cells, what was counted, and what became of values without a cell.
export interface AttributeWords {
  labels: string[];
  groups: string[];
}

// Of the file that was given, and the one that is wanted.
type FileProblemTexts = Record<FileProblem, (name: string, wanted: string) => string>;

const en = {
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
        : `The tables count rows of the data. For each ${identifier}, at most ${rows} counted, chosen at random, and rows without a ${identifier} were left out. So the counts are below those of all rows.`,
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
      "The promise is about what this release adds to what is known. It does not hide what follows from the rest of the population. It covers this release alone.",
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
    heatmap: "Darker cells have larger estimates.",
    unreliableBars: "Pale bars with a dashed outline are unreliable.",
    unreliableCells: "Cells marked with a cross are unreliable.",
    unreliableCurve: "Open circles are unreliable answers.",
    multiples: (name: string): string => `One small chart for each value of ${name}.`,
    tooLarge: (count: string): string =>
      `This table has ${count} answers: too many for a picture. Its numbers can be downloaded.`,
    tooLargeToShow: (count: string): string =>
      `This table has ${count} answers: too many for a page. Ask for some of them below, or make all of them with:`,
  },
  summary: (count: string, unreliable: string, confidence: string): string =>
    `${count} ${count === "1" ? "answer" : "answers"}, ${unreliable} of them unreliable. Intervals at ${confidence} confidence.`,
  sortBy: (column: string): string => `Sort by ${column}`,
  showAll: (count: string): string => `Show all ${count} rows`,
  rowsShown: (shown: string, count: string): string => `${shown} of ${count} rows are shown.`,
  download: "Download",
  asCsv: "Numbers (CSV)",
  asSvg: "Picture (SVG)",
  asPng: "Picture (PNG)",
  copyLink: "Copy the address of this view",
  copied: "Copied.",
  totalSentence: (estimate: string, lower: string, upper: string, confidence: string): string =>
    `About ${estimate} rows; with ${confidence} confidence between ${lower} and ${upper}.`,

  questionsIntro:
    "Ask for the number of rows with certain values. Conditions on several attributes are answered if they were measured together.",
  question: "Question",
  secondQuestion: "Second question",
  questionHint: "such as age=18..30 sex=female; empty for all rows",
  addCondition: "Add a condition",
  condition: "Condition on",
  choose: "choose an attribute",
  from: "from",
  to: "to",
  values: "Values",
  remove: "Remove",
  compare: "Compare with a second question",
  answer: "Answer",
  answerSentence: (estimate: string, lower: string, upper: string, confidence: string): string =>
    `About ${estimate} rows. With ${confidence} confidence the true number is between ${lower} and ${upper}.`,
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

export type Texts = typeof en;

const zahl = (count: number, one: string, many: string): string =>
  `${count} ${count === 1 ? one : many}`;

const de: Texts = {
  languageName: "Deutsch",
  defaultTitle: "Eine Veröffentlichung mit Differential Privacy",
  skip: "Zu den Tabellen springen",
  language: "Sprache",
  sections: {
    overview: "Überblick",
    tables: "Tabellen",
    questions: "Fragen",
    variables: "Merkmale",
    use: "Nutzen und zitieren",
  },
  loading: "Die Zahlen werden entpackt ...",
  failed: (message) =>
    `Diese Seite konnte nicht gestartet werden: ${message}. Sie braucht eine aktuelle Version von Chrome, Edge, Firefox oder Safari.`,
  publishedBy: "Herausgegeben von",
  date: "Datum",
  contact: "Kontakt",
  licence: "Lizenz",
  contents: "Inhalt",
  contentsValue: (tables, attributes) =>
    `${zahl(tables, "Tabelle", "Tabellen")} über ${zahl(attributes, "Merkmal", "Merkmale")}`,
  rowTitle: "Was gezählt wird",
  row: (privacy, isQuery) => {
    const paragraphs = [];
    if (isQuery) {
      paragraphs.push(
        "Die Daten sind das Ergebnis einer Abfrage, und eine Zeile ist eine Zeile dieses Ergebnisses. Wenn die Abfrage Tabellen verbindet, Zeilen gruppiert oder ihre Anzahl begrenzt, kann eine Zeile der ursprünglichen Tabellen mehrere Zeilen beeinflussen und ist dann schwächer geschützt als eine Zeile.",
      );
    }
    const identifier = code(privacy.identifier);
    const rows =
      privacy.maxRows === 1 ? "höchstens eine Zeile" : `höchstens ${privacy.maxRows} Zeilen`;
    paragraphs.push(
      privacy.identifier === ""
        ? "Die Tabellen zählen Zeilen der Daten. Hat eine Person mehrere Zeilen, so zählt jede."
        : `Die Tabellen zählen Zeilen der Daten. Für jeden Wert von ${identifier} wurde ${rows} gezählt, zufällig ausgewählt; Zeilen ohne ${identifier} wurden weggelassen. Die Anzahlen liegen deshalb unter denen aller Zeilen.`,
    );
    return paragraphs;
  },
  privateTitle: "Wie gut die Daten geschützt sind",
  private: (privacy) => {
    const suspicion = privacy.replaceOne
      ? "welche von zwei Zeilen in den Daten steht"
      : privacy.identifier === ""
        ? "ob eine bestimmte Zeile in den Daten steht"
        : `ob die Zeilen eines bestimmten Werts von ${code(privacy.identifier)} in den Daten stehen`;
    const paragraphs = [
      `Angenommen, jemand kennt alle Daten bis auf eines: ${suspicion}. Beides hält er für gleich wahrscheinlich: 50 %. Nachdem er diese Veröffentlichung gesehen hat, kann er sich höchstens zu ${privacy.suspicion} sicher sein. Das gilt unabhängig davon, was er weiß und berechnet, außer mit einer Wahrscheinlichkeit von höchstens ${privacy.delta}.`,
    ];
    if (privacy.isWeak) {
      paragraphs.push(
        "**Diese Zusage ist schwach.** Im schlimmsten Fall lässt sie fast keinen Zweifel.",
      );
    }
    if (privacy.replaceOne) {
      paragraphs.push("Die Anzahl der Zeilen ist nicht geschützt: Sie gilt als bekannt.");
    }
    if (privacy.identifier === "") {
      paragraphs.push(
        "Die Zusage gilt für eine Zeile. Eine Person mit mehreren Zeilen ist schwächer geschützt.",
      );
    }
    paragraphs.push(
      "Die Zusage betrifft das, was diese Veröffentlichung dem Bekannten hinzufügt. Sie verbirgt nicht, was aus dem Rest der Bevölkerung folgt. Sie gilt für diese Veröffentlichung allein.",
    );
    return paragraphs;
  },
  technical: "Technische Angaben",
  technicalText: (privacy) => [
    `(${privacy.epsilon}, ${privacy.delta})-Differential Privacy, zero-concentrated Differential Privacy mit rho = ${privacy.rho}${
      privacy.mu === null ? "" : ` und Gaussian Differential Privacy mit mu = ${privacy.mu}`
    }; benachbarte Tabellen: ${privacy.neighbours}. Das Rauschen ist diskret normalverteilt und wird exakt gezogen. Die Angaben sind aufgerundet, nie abgerundet, und gelten für dieses Rauschen.${
      privacy.identifier === "" ? " Für eine Person mit k Zeilen ist rho k^2-mal so groß." : ""
    }`,
  ],
  exactTitle: "Wie genau die Zahlen sind",
  exact: (facts, threshold) => [
    `Eine typische Zahl weicht um etwa ${facts.typicalError} ab. Das Rauschen erhöht eine Zahl so oft, wie es sie verringert; kleine Anzahlen können deshalb negativ sein.`,
    `Zu jeder Zahl dieser Seite gehören ihre Standardabweichung und ein Intervall. Zahlen, deren Standardabweichung mehr als ${threshold} von ihnen beträgt, sind als unsicher gekennzeichnet. Diese Fehler stammen allein vom Rauschen: Fehler in den Daten sind nicht enthalten.`,
  ],
  leftOut: (count, names) =>
    `${zahl(count, "Tabelle passte", "Tabellen passten")} nicht in diese Seite: ${names.join("; ")}${
      count > names.length ? "; ..." : ""
    }.`,
  file: {
    title: "Weitere Tabellen",
    ask: (name, megabytes) =>
      `Diese Seite liest sie aus \`${name}\` (${megabytes} MB), das neben ihr veröffentlicht ist: Ziehen Sie die Datei auf diese Seite, oder wählen Sie sie aus. Sie wird auf diesem Rechner gelesen und nirgendwohin gesendet.`,
    notHere: (name) =>
      `Sie lassen sich mit residua aus \`${name}\` erzeugen; für diese Seite ist das Format der Datei zu alt.`,
    choose: (name) => `${name} auswählen`,
    opening: (name) => `${name} wird geöffnet ...`,
    isOpen: (name, count) =>
      `${name} ist geöffnet. ${count === 1 ? "Die Tabelle kann" : `Alle ${count} Tabellen können`} gewählt und befragt werden.`,
    reading: (name, part) => `${name} wird gelesen: ${part}`,
    notInPage: (attribute) => `${attribute} (nicht in dieser Seite)`,
    tableLeftOut: (table) => `Die Tabelle ${table} passte nicht in diese Seite.`,
    questionLeftOut: (table) =>
      `Diese Frage braucht die Tabelle ${table}, die nicht in diese Seite passte.`,
    questionTooLarge: (count, name) =>
      `Diese Frage braucht ${count} Werte aus ${name}: zu viele für eine Seite. Die Kommandozeile beantwortet sie:`,
    drop: (name) => `${name} hier ablegen`,
    problems: {
      empty: (name) => `${name} ist leer. Holen Sie die Datei neu.`,
      folder: (_name, wanted) =>
        `Das ist ein Ordner. Geben Sie dieser Seite allein die Datei ${wanted}.`,
      several: (_name, wanted) =>
        `Das sind mehrere Dateien. Geben Sie dieser Seite allein ${wanted}.`,
      nothing: (_name, wanted) =>
        `Das ist keine Datei. Geben Sie dieser Seite die Datei ${wanted}.`,
      unreadable: (name) =>
        `${name} lässt sich nicht lesen: Die Datei wurde verschoben oder geändert, oder Sie dürfen sie nicht öffnen. Wählen Sie sie noch einmal aus.`,
      notNeeded: () => "Diese Seite enthält alle Tabellen. Sie braucht keine Datei.",
      notMeasurements: (name, wanted) =>
        `${name} ist keine Messdatei. Geben Sie dieser Seite ${wanted}.`,
      notWhole: (name) => `${name} ist nicht vollständig: Das Ende fehlt. Holen Sie die Datei neu.`,
      changed: (name) =>
        `${name} wurde geändert oder ist beschädigt: Die Prüfsummen stimmen nicht. Holen Sie die Datei neu.`,
      firstFormat: (name) =>
        `${name} hat das Format 1, das residua bis Version 0.4 schrieb und das Seiten nicht lesen. Nutzen Sie residua tables oder residua query.`,
      otherRelease: (name, wanted) =>
        `${name} gehört zu einer anderen Veröffentlichung. Geben Sie dieser Seite die Datei ${wanted}, mit der sie veröffentlicht wurde.`,
      otherMeasurement: (name, wanted) =>
        `${name} wurde nach demselben Plan gemessen, ist aber eine andere Messung. Geben Sie dieser Seite die Datei ${wanted}, mit der sie veröffentlicht wurde.`,
    },
  },

  tablesIntro:
    "Wählen Sie bis zu drei Merkmale. Das Bild und die Zahlen daneben zeigen dieselben Angaben.",
  attributeChoice: ["Erstes Merkmal", "Zweites Merkmal", "Drittes Merkmal"],
  none: "keines",
  total: "Alle Zeilen",
  view: "Zeigen",
  views: {
    cells: "Anzahlen",
    prefixes: "Laufende Summen",
    planned: "Wie veröffentlicht",
  },
  level: (name) => `Ebene von ${name}`,
  levelName: (level) => (level === 0 ? "Werte" : `Gruppen, Ebene ${level}`),
  confidence: "Konfidenz",
  chart: "Bild",
  numbers: "Zahlen",
  columns: {
    estimate: "Schätzwert",
    std_dev: "Standard\u00adabweichung",
    ci_lower: "Von",
    ci_upper: "Bis",
    reliability: "Verlässlichkeit",
  },
  reliable: "gut",
  unreliable: "unsicher",
  legend: {
    bars: "Die Balken sind Schätzwerte. Die Linie an ihrem Ende ist das Intervall.",
    curve: "Die Linie zeigt Schätzwerte, das Band ihre Intervalle.",
    heatmap: "Dunklere Felder haben größere Schätzwerte.",
    unreliableBars: "Blasse Balken mit gestricheltem Rand sind unsicher.",
    unreliableCells: "Felder mit einem Kreuz sind unsicher.",
    unreliableCurve: "Offene Kreise sind unsichere Angaben.",
    multiples: (name) => `Ein kleines Bild für jeden Wert von ${name}.`,
    tooLarge: (count) =>
      `Diese Tabelle hat ${count} Angaben: zu viele für ein Bild. Ihre Zahlen können heruntergeladen werden.`,
    tooLargeToShow: (count) =>
      `Diese Tabelle hat ${count} Angaben: zu viele für eine Seite. Fragen Sie unten nach einzelnen, oder erzeugen Sie alle mit:`,
  },
  summary: (count, unreliable, confidence) =>
    `${count} ${count === "1" ? "Angabe" : "Angaben"}, davon ${unreliable} unsicher. Intervalle zur Konfidenz ${confidence}.`,
  sortBy: (column) => `Nach ${column} sortieren`,
  showAll: (count) => `Alle ${count} Zeilen zeigen`,
  rowsShown: (shown, count) => `${shown} von ${count} Zeilen werden gezeigt.`,
  download: "Herunterladen",
  asCsv: "Zahlen (CSV)",
  asSvg: "Bild (SVG)",
  asPng: "Bild (PNG)",
  copyLink: "Adresse dieser Ansicht kopieren",
  copied: "Kopiert.",
  totalSentence: (estimate, lower, upper, confidence) =>
    `Etwa ${estimate} Zeilen; mit Konfidenz ${confidence} zwischen ${lower} und ${upper}.`,

  questionsIntro:
    "Fragen Sie nach der Anzahl der Zeilen mit bestimmten Werten. Bedingungen an mehrere Merkmale werden beantwortet, wenn diese zusammen gemessen wurden.",
  question: "Frage",
  secondQuestion: "Zweite Frage",
  questionHint: "etwa age=18..30 sex=female; leer für alle Zeilen",
  addCondition: "Bedingung hinzufügen",
  condition: "Bedingung an",
  choose: "Merkmal wählen",
  from: "von",
  to: "bis",
  values: "Werte",
  remove: "Entfernen",
  compare: "Mit einer zweiten Frage vergleichen",
  answer: "Antwort",
  answerSentence: (estimate, lower, upper, confidence) =>
    `Etwa ${estimate} Zeilen. Mit Konfidenz ${confidence} liegt die wahre Anzahl zwischen ${lower} und ${upper}.`,
  standardDeviation: "Standardabweichung",
  interval: (confidence) => `Intervall, ${confidence}`,
  comparison: {
    first: "Erste",
    second: "Zweite",
    difference: "Differenz, erste − zweite",
    sum: "Summe",
    ratio: "Verhältnis, erste / zweite",
    noRatio: "die zweite liegt, verglichen mit ihrem Rauschen, zu nahe bei 0",
    correlation: (value) =>
      `Das Rauschen der beiden Antworten hat eine Korrelation von ${value}; sie ist in diesen Intervallen enthalten.`,
  },
  isUnreliable: (threshold) =>
    `Unsicher: Die Standardabweichung beträgt mehr als ${threshold} der Antwort.`,
  commandLine: "Dasselbe auf der Kommandozeile",

  variablesIntro:
    "Die Merkmale der Tabellen: ihre Felder, was gezählt wurde, und was mit Werten ohne Feld geschah. Nichts davon wurde den Daten entnommen.",
  describe: (facts, words) => {
    const few = firstFew(words.labels.slice(0, facts.values));
    const cells = {
      size: () => zahl(facts.values, "Feld", "Felder"),
      integers: () =>
        `ganze Zahlen von ${words.labels[0]} bis ${words.labels[facts.values - 1]}, je ein Feld`,
      cuts: () => `Zahlen in ${facts.values} Bereichen: ${few}`,
      values: () => `einer von ${zahl(facts.values, "Wert", "Werten")}: ${few}`,
      dates: () =>
        `Tage von ${facts.firstDay} bis ${facts.lastDay}, in ${zahl(facts.values, "Feld", "Feldern")}: ${few}`,
      part: () => `ein Teil eines Datums oder einer Uhrzeit: ${few}`,
    }[facts.encoding]();
    const missing = facts.nullCell ? "; fehlende Werte haben ein eigenes Feld, `null`" : "";
    const queries = {
      identity: "Gezählt: jedes Feld.",
      prefix: "Gezählt: laufende Summen, vom ersten bis zu jedem Feld.",
      range: "Gezählt: jeder Bereich aufeinanderfolgender Felder.",
      hierarchy: `Gezählt: jedes Feld und ${zahl(words.groups.length, "Gruppe", "Gruppen")} von ihnen: ${firstFew(words.groups)}.`,
      custom: `Gezählt: ${zahl(facts.combinations, "Kombination", "Kombinationen")} von Feldern, die der Herausgeber gewählt hat.`,
    }[facts.queries];
    const others = {
      integers: ["Zahlen außerhalb", "Brüchen", "Werten, die keine Zahlen sind"],
      cuts: ["Werten, die keine Zahlen sind"],
      dates: ["Tagen außerhalb", "Werten, die keine Tage sind"],
      part: ["Werten, die keine Tage sind"],
      values: ["anderen Werten"],
      size: ["anderen Werten"],
    }[facts.encoding];
    const all = ["fehlenden Werten", ...others];
    const missingAsNull = "Fehlende Werte wurden als `null` gezählt.";
    const isDate = facts.encoding === "dates";
    const bad = isDate ? "Werte, die keine Tage sind," : "Werte, die keine Zahlen sind,";
    const fates = {
      error: () =>
        `${facts.nullCell ? `${missingAsNull} ` : ""}Bei ${listed(facts.nullCell ? others : all, "oder")} wäre die Veröffentlichung abgebrochen worden.`,
      clamp: () =>
        `${
          isDate
            ? "Tage außerhalb wurden am nächsten Ende gezählt."
            : "Zahlen außerhalb wurden am nächsten Ende gezählt und Brüche bei der ganzen Zahl darunter."
        } ${
          facts.nullCell
            ? `Fehlende Werte und ${bad} wurden als \`null\` gezählt.`
            : `Fehlende Werte und ${bad} hätten die Veröffentlichung abgebrochen.`
        }`,
      drop: () =>
        `${facts.nullCell ? `${missingAsNull} ` : ""}Zeilen mit ${listed(facts.nullCell ? others : all, "oder")} wurden aus allen Tabellen weggelassen.`,
      null: () => `${missingAsNull} Dasselbe geschah mit ${listed(others, "und")}.`,
      other: () =>
        `Andere Werte wurden als \`other\` gezählt. ${
          facts.nullCell
            ? missingAsNull
            : "Bei fehlenden Werten wäre die Veröffentlichung abgebrochen worden."
        }`,
    }[facts.outside]();
    return `${cells}${missing} (${facts.size} Felder). ${queries} ${fates}`;
  },

  citeTitle: "Wie zitiert wird",
  cite: (facts, title) =>
    `${citedSource(facts, title)}. (${facts.privacy.epsilon}, ${facts.privacy.delta})-Differential Privacy (${facts.privacy.rho}-zCDP), ${facts.privacy.change}; discrete Gaussian noise; residua ${facts.version}. Plan ${facts.planDigest}.`,
  citeView:
    "Jede Tabelle und jede Frage dieser Seite hat eine eigene Adresse: Kopieren Sie sie aus der Adresszeile oder mit dem Knopf unter der Tabelle.",
  loadTitle: "Wie die Tabellen geladen werden",
  load: {
    python: "Python, mit pandas oder mit residua",
    r: "R",
    sheet: "Tabellenkalkulation",
    sheetText:
      "Öffnen Sie eine Datei des Ordners tables/ oder eine CSV-Datei von dieser Seite: eine Zeile je Angabe, mit den Spalten estimate, std_dev, ci_lower und ci_upper.",
    shell: "Kommandozeile",
  },
  digest: "Prüfsumme des Plans",
  copy: "Kopieren",
  madeWith: (version) =>
    `Erstellt mit residua ${version}. Diese Seite funktioniert ohne Netz und sendet nichts.`,
};

export const texts: Record<Language, Texts> = { en, de };
