// Fetches a page again, every few seconds, while no one is in the middle of something on it.
"use strict";
(() => {
  const stale = document.getElementById("stale");
  const busy = (main) =>
    document.hidden || main.querySelector("details.confirm[open]") !== null ||
    main.contains(document.activeElement) && document.activeElement.matches("input, select, textarea, button, a, summary") ||
    !(document.getSelection()?.isCollapsed ?? true);
  const opened = (main) => [...main.querySelectorAll("details")].map((d) => d.open);
  async function again() {
    const main = document.getElementById("main");
    const seconds = Number(main.dataset.refresh);
    if (!seconds) return;
    if (!busy(main)) {
      try {
        const answer = await fetch(location.pathname + location.search, { headers: { Accept: "text/html" } });
        const next = new DOMParser().parseFromString(await answer.text(), "text/html").getElementById("main");
        if (answer.status === 401) { location.reload(); return; }
        if (next && !busy(main)) {
          const open = opened(main);
          const from = [...next.querySelectorAll("details")];
          if (from.length === open.length) from.forEach((d, i) => { d.open = open[i]; });
          next.querySelectorAll(".notice.good").forEach((n) => n.remove());
          main.replaceWith(document.importNode(next, true));
        }
        stale.hidden = next !== null;
      } catch { stale.hidden = false; }
    }
    setTimeout(again, seconds * 1000);
  }
  const seconds = Number(document.getElementById("main").dataset.refresh);
  if (seconds) setTimeout(again, seconds * 1000);
})();
