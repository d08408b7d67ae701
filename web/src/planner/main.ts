// The planning page.

import "../style.css";
import "./planner.css";
import { unpacked } from "../core_call";
import { element } from "../dom";
import { Numbers } from "../format";
import { languageChoice } from "../languages";
import { texts as sharedTexts } from "../texts";
import type { Language } from "../texts";
import { attributesView } from "./attributes";
import { budgetView } from "./budget";
import { frontierView } from "./frontier";
import { resultsView } from "./results";
import { specView } from "./spec_text";
import { State } from "./state";
import type { Start } from "./state";
import { tablesView } from "./tables";
import { plannerTexts } from "./texts";
import type { Context, View } from "./view";

const kSections = ["budget", "results", "tables", "frontier", "attributes", "spec"] as const;
const kPlaces = { budget: "budget-title" } as Partial<Record<(typeof kSections)[number], string>>;

function start(): void {
  const page = document.getElementById("page") ?? document.body;
  const about = JSON.parse(document.getElementById("start")?.textContent ?? "{}") as Start;
  let language: Language = navigator.language.startsWith("de") ? "de" : "en";
  let views: View[] = [];
  let problem = element("div", {});

  const showProblem = (state: State): void => {
    const why = state.refused ?? state.unplanned;
    const texts = plannerTexts[language];
    problem.replaceChildren();
    if (why !== null) {
      problem.append(
        element(
          "p",
          { class: "warning" },
          element("strong", {}, state.refused === null ? texts.noPlan : texts.notChanged),
          ` ${why}`,
        ),
      );
    }
  };

  const update = (state: State): void => {
    for (const view of views) view.update();
    showProblem(state);
    if (state.spec !== null) page.dataset["ready"] = "yes";
    page.dataset["answers"] = String(state.numAnswers);
    page.dataset["milliseconds"] = String(state.milliseconds);
    page.dataset["certified"] = state.certificate === null ? "no" : "yes";
  };

  const draw = (state: State | null, failure = ""): void => {
    const texts = plannerTexts[language];
    document.documentElement.lang = language;
    document.title = texts.title(about.name);
    const header = element(
      "header",
      {},
      element("a", { class: "skip", href: "#results-title" }, texts.skip),
      element(
        "div",
        { class: "bar" },
        element("h1", { dir: "auto" }, texts.title(about.name)),
        languageChoice(language, (chosen) => {
          language = chosen;
          draw(state, failure);
        }),
      ),
      element(
        "nav",
        { "aria-label": texts.navigation },
        ...kSections.map((section) =>
          element("a", { href: `#${kPlaces[section] ?? section}` }, texts.sections[section]),
        ),
      ),
    );
    const main = element("main", {});
    if (state === null) {
      main.append(
        failure === ""
          ? element("p", { class: "loading", role: "status" }, texts.loading)
          : element(
              "p",
              { class: "warning", role: "alert" },
              sharedTexts[language].failed(failure),
            ),
      );
      page.replaceChildren(header, main);
      return;
    }
    const context: Context = {
      state,
      texts,
      shared: sharedTexts[language],
      numbers: new Numbers(language),
    };
    views = [budgetView, resultsView, tablesView, frontierView, attributesView, specView].map(
      (make) => make(context),
    );
    problem = element("div", { class: "problem", role: "alert" });
    main.append(problem, ...views.map(({ node }) => node));
    page.replaceChildren(header, main);
    update(state);
  };

  draw(null);
  unpacked("core")
    .then((code) => WebAssembly.compile(code))
    .then(
      (module) => {
        const state: State = new State(about, module, () => update(state));
        draw(state);
        state.update();
        addEventListener("beforeunload", (event) => {
          if (!state.isSaved) event.preventDefault();
        });
      },
      (error: unknown) => draw(null, error instanceof Error ? error.message : String(error)),
    );
}

start();
