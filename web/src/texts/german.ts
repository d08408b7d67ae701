// Every text of the reader's page in German.

import type { en } from "./english";
import { citedSource, code, decimalComma, firstFew, listed } from "./text_parts";

const zahl = (count: number, one: string, many: string): string =>
  `${count} ${count === 1 ? one : many}`;

const coveredReleases = (numEarlier: number): string => {
  if (numEarlier === 0) return "diese Veröffentlichung allein.";
  return numEarlier === 1
    ? "diese Veröffentlichung zusammen mit der früheren, mit der sie verbunden ist."
    : `diese Veröffentlichung zusammen mit den ${numEarlier} früheren, mit denen sie verbunden ist.`;
};

export const de: typeof en = {
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
        : `Die Tabellen zählen Zeilen der Daten. Für jeden Wert von ${identifier} wurde ${rows} gezählt, zufällig ausgewählt; Zeilen ohne ${identifier} wurden weggelassen. Die Anzahlen können deshalb unter denen aller Zeilen liegen.`,
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
      `Angenommen, jemand kennt alle Daten bis auf eines: ${suspicion}. Beides hält er für gleich wahrscheinlich: 50 %. Nachdem er diese Veröffentlichung gesehen hat, kann er sich höchstens zu ${decimalComma(privacy.suspicion)} sicher sein. Das gilt unabhängig davon, was er weiß und berechnet, außer mit einer Wahrscheinlichkeit von höchstens ${privacy.delta}.`,
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
      "Die Zusage betrifft das, was diese Veröffentlichung dem Bekannten hinzufügt. Sie verbirgt nicht, was aus dem Rest der Bevölkerung folgt. Sie gilt für " +
        coveredReleases(privacy.numEarlier ?? 0),
    );
    return paragraphs;
  },
  technical: "Technische Angaben",
  technicalText: (privacy) => [
    `(${decimalComma(privacy.epsilon)}; ${privacy.delta})-Differential Privacy, zero-concentrated Differential Privacy mit rho = ${decimalComma(privacy.rho)}${
      privacy.mu === null
        ? ""
        : ` und Gaussian Differential Privacy mit mu = ${decimalComma(privacy.mu)}`
    }; benachbarte Tabellen: ${privacy.neighbours}. Das Rauschen ist diskret normalverteilt und wird exakt gezogen. Die Angaben sind aufgerundet, nie abgerundet, und gelten für dieses Rauschen.${
      privacy.identifier === "" ? " Für eine Person mit k Zeilen ist rho k^2-mal so groß." : ""
    }`,
  ],
  exactTitle: "Wie genau die Zahlen sind",
  exact: (facts, threshold) => [
    `Eine typische Zahl weicht um etwa ${decimalComma(facts.typicalError)} ab. Das Rauschen erhöht eine Zahl so oft, wie es sie verringert; kleine Anzahlen können deshalb negativ sein.`,
    `Zu jeder Zahl dieser Seite gehören ihre Standardabweichung und ein Intervall. Zahlen, deren Standardabweichung mehr als ${threshold} von ihnen beträgt, sind als unsicher gekennzeichnet. Diese Fehler stammen allein vom Rauschen: Fehler in den Daten sind nicht enthalten.`,
    ...(facts.privacy.numEarlier
      ? [
          `Die Zahlen sind die besten Schätzwerte aus ${facts.privacy.numEarlier + 1} Veröffentlichungen derselben Daten zusammen; ihre Fehler sind deshalb kleiner als die jeder einzelnen.`,
        ]
      : []),
    ...(facts.attributes.some((attribute) => attribute.queries === "mean")
      ? [
          "Mittelwerte haben Intervalle nach Fieller. Wo es für das Rauschen zu wenige Zeilen sind, gibt es keinen Mittelwert. Ein Mittelwert nahe 0 gilt als unsicher, auch wenn er gut bekannt ist: Sehen Sie auf sein Intervall.",
        ]
      : []),
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
  quantity: "Größe",
  quantities: { count: "Anzahlen", sum: "Summen", mean: "Mittelwerte" },
  quantityOf: {
    count: (name) => `Zeilen mit ${name}`,
    sum: (name) => `Summe von ${name}`,
    mean: (name) => `Mittelwert von ${name}`,
  },
  by: (quantity, names) => `${quantity} nach ${names}`,
  noMean: "zu wenige Zeilen",
  noMeanSentence:
    "Es sind zu wenige Zeilen für einen Mittelwert bei diesem Rauschen. Fragen Sie nach mehr Zeilen zugleich.",
  viewsOfMeans: {
    cells: "Jeder Wert",
    prefixes: "Alle bis zu jedem Wert",
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
    dots: "Die Punkte sind Mittelwerte. Die Linie durch jeden ist sein Intervall.",
    cutOff: (low, high) =>
      `Intervalle sind abgeschnitten, wo kein Mittelwert sein kann: unter ${low} und über ${high}.`,
    heatmap: (isDark) => `${isDark ? "Hellere" : "Dunklere"} Felder haben größere Schätzwerte.`,
    unreliableDots: "Offene Punkte sind unsicher.",
    missing: "Wo es für das Rauschen zu wenige Zeilen sind, gibt es keinen Mittelwert.",
    missingCells: "Felder mit einem Strich haben keinen Mittelwert: Sie haben zu wenige Zeilen.",
    unreliableBars: "Blasse Balken mit gestricheltem Rand sind unsicher.",
    unreliableCells: "Felder mit einem Kreuz sind unsicher.",
    unreliableCurve: "Offene Kreise sind unsichere Angaben.",
    multiples: (name) => `Ein kleines Bild für jeden Wert von ${name}.`,
    tooLarge: (count) =>
      `Diese Tabelle hat ${count} Angaben: zu viele für ein Bild. Ihre Zahlen können heruntergeladen werden.`,
    tooLargeToShow: (count) =>
      `Diese Tabelle hat ${count} Angaben: zu viele für eine Seite. Fragen Sie unten nach einzelnen, oder erzeugen Sie alle mit:`,
  },
  summary: (count, unreliable, missing, confidence) =>
    `${count} ${count === "1" ? "Angabe" : "Angaben"}, davon ${unreliable} unsicher${
      missing === "0" ? "" : ` und ${missing} ohne Mittelwert`
    }. Intervalle zur Konfidenz ${confidence}.`,
  sortBy: (column) => `Nach ${column} sortieren`,
  showAll: (count) => `Alle ${count} Zeilen zeigen`,
  rowsShown: (shown, count) => `${shown} von ${count} Zeilen werden gezeigt.`,
  download: "Herunterladen",
  asCsv: "Zahlen (CSV)",
  asSvg: "Bild (SVG)",
  asPng: "Bild (PNG)",
  copyLink: "Adresse dieser Ansicht kopieren",
  copied: "Kopiert.",

  questionsIntro:
    "Fragen Sie nach der Anzahl der Zeilen mit bestimmten Werten. Bedingungen an mehrere Merkmale werden beantwortet, wenn diese zusammen gemessen wurden.",
  question: "Frage",
  secondQuestion: "Zweite Frage",
  questionHint: "etwa age=18..30 sex=female; leer für alle Zeilen",
  askFor: "Gefragt ist",
  askQuantity: {
    count: () => "die Anzahl der Zeilen",
    sum: (name) => `die Summe von ${name}`,
    mean: (name) => `der Mittelwert von ${name}`,
  },
  addCondition: "Bedingung hinzufügen",
  condition: "Bedingung an",
  choose: "Merkmal wählen",
  from: "von",
  to: "bis",
  values: "Werte",
  remove: "Entfernen",
  compare: "Mit einer zweiten Frage vergleichen",
  answer: "Antwort",
  answerSentence: (quantity, name, estimate, lower, upper, confidence) => {
    const about = {
      count: `Etwa ${estimate} Zeilen. Mit Konfidenz ${confidence} liegt die wahre Anzahl`,
      sum: `Die Summe von ${name} ist etwa ${estimate}. Mit Konfidenz ${confidence} liegt die wahre Summe`,
      mean: `Der Mittelwert von ${name} ist etwa ${estimate}. Mit Konfidenz ${confidence} liegt der wahre Mittelwert`,
    }[quantity];
    return `${about} zwischen ${lower} und ${upper}.`;
  },
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
    deltaMethod:
      "Die Fehler von Mittelwerten, und was aus ihnen folgt, sind nach der Delta-Methode berechnet.",
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
      mean: () =>
        facts.step === undefined
          ? `ganze Zahlen von ${facts.low} bis ${facts.high}`
          : `Zahlen von ${facts.low} bis ${facts.high} in Schritten von ${facts.step}`,
      part: () => `ein Teil eines Datums oder einer Uhrzeit: ${few}`,
    }[facts.encoding]();
    const missing = facts.nullCell ? "; fehlende Werte haben ein eigenes Feld, `null`" : "";
    const queries = {
      identity: "Gezählt: jedes Feld.",
      prefix: "Gezählt: laufende Summen, vom ersten bis zu jedem Feld.",
      range: "Gezählt: jeder Bereich aufeinanderfolgender Felder.",
      hierarchy: `Gezählt: jedes Feld und ${zahl(words.groups.length, "Gruppe", "Gruppen")} von ihnen: ${firstFew(words.groups)}.`,
      custom: `Gezählt: ${zahl(facts.combinations, "Kombination", "Kombinationen")} von Feldern, die der Herausgeber gewählt hat.`,
      mean: "Gemessen: wie viele Zeilen eine Zahl haben, ihre Summe und ihr Mittelwert, nicht jede einzelne Zahl.",
    }[facts.queries];
    const others = {
      integers: ["Zahlen außerhalb", "Brüchen", "Werten, die keine Zahlen sind"],
      cuts: ["Werten, die keine Zahlen sind"],
      dates: ["Tagen außerhalb", "Werten, die keine Tage sind"],
      part: ["Werten, die keine Tage sind"],
      mean: [
        "Zahlen außerhalb",
        ...(facts.step === undefined ? ["Brüchen"] : []),
        "Werten, die keine Zahlen sind",
      ],
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
            : facts.step !== undefined
              ? "Zahlen außerhalb wurden am nächsten Ende gezählt."
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
    const size = facts.encoding === "mean" ? "" : ` (${facts.size} Felder)`;
    return `${cells}${missing}${size}. ${queries} ${fates}`;
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
