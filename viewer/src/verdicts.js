// What the scenario expected, and the moments at which it did not hold: a click goes there.

/** Fills the list from the run's report; hidden where nothing was expected. */
export function showVerdicts(section, list, expectations, seek) {
  section.hidden = !expectations?.length;
  list.replaceChildren(...(expectations ?? []).map((one) => verdictOf(one, seek)));
}

function verdictOf(one, seek) {
  const item = document.createElement("li");
  item.dataset.verdict = one.verdict;
  const words = document.createElement("span");
  words.textContent = `${one.verdict} ${one.name}`;
  words.title = `${one.expects}\n${one.why}`;
  item.append(words);
  for (const violation of one.first_violations ?? []) {
    const button = document.createElement("button");
    button.textContent = `${violation.at_s.toFixed(3)} s`;
    button.title = Object.entries(violation.values ?? {})
      .map(([what, value]) => `${what} = ${value}`)
      .join(", ");
    button.setAttribute("aria-label", `Go to ${violation.at_s.toFixed(3)} s, where ${one.name} does not hold`);
    button.addEventListener("click", () => seek(violation.at_s));
    item.append(button);
  }
  return item;
}

/** The time that an address like …#t=3.21 names; undefined: none. */
export function timeInAddress(hash) {
  const t = Number(new URLSearchParams(hash.slice(1)).get("t") ?? NaN);
  return Number.isFinite(t) ? t : undefined;
}
