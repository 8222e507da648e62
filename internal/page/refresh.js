// Fetches the page again at the interval in <html data-refresh="milliseconds"> and replaces <main>, but only while the
// tab is visible. Open elements stay open, and the page stays unchanged while the reader uses an input, has changed one,
// selects text or holds a button of the mouse.
(() => {
  "use strict";
  const root = document.documentElement;
  const live = document.getElementById("live");
  let tag = "", timer = 0, busy = false, pressed = false;

  const say = (state, text) => {
    live.hidden = false;
    live.dataset.state = state;
    if (live.textContent !== text) live.textContent = text;
  };

  // changed reports whether the reader has changed an input.
  const changed = input => input.matches("select") ?
    input.selectedIndex !== Math.max([...input.options].findIndex(o => o.defaultSelected), 0) :
    input.value !== input.defaultValue || input.checked !== input.defaultChecked;

  // inUse reports whether a replacement would disturb the reader: an input has the focus or was changed, text is
  // selected, a sound plays, or a click has begun, which would be lost with its element.
  const inUse = main => {
    const at = document.activeElement;
    const selection = getSelection();
    return pressed || main.contains(at) && at.matches("input, select, textarea") ||
      [...main.querySelectorAll("input, select, textarea")].some(changed) ||
      [...main.querySelectorAll("audio")].some(a => !a.paused) ||
      !selection.isCollapsed && main.contains(selection.anchorNode);
  };

  const exchange = text => {
    const next = new DOMParser().parseFromString(text, "text/html");
    const main = document.querySelector("main"), fresh = next.querySelector("main");
    if (!fresh || inUse(main)) return false;
    for (const d of main.querySelectorAll("details[id]")) {
      const same = next.getElementById(d.id);
      if (same) same.open = d.open;
    }
    const at = main.contains(document.activeElement) ? document.activeElement : null;
    const focused = at && at.closest("main [id]");
    const controls = () => [...main.querySelectorAll("a, button, summary")];
    const place = controls().indexOf(at), label = at && at.textContent;
    main.replaceChildren(...fresh.childNodes);
    document.title = next.title;
    const again = focused && document.getElementById(focused.id), same = controls()[place];
    if (same && same.textContent === label) same.focus({preventScroll: true});
    else if (again) (again.matches("details") ? again.querySelector("summary") : again).focus({preventScroll: true});
    if (next.documentElement.dataset.refresh) root.dataset.refresh = next.documentElement.dataset.refresh;
    else delete root.dataset.refresh;
    return true;
  };

  const look = async () => {
    if (busy) return;
    busy = true;
    try {
      const answer = await fetch(location.href, {cache: "no-store", headers: tag ? {"If-None-Match": tag} : {}});
      if (answer.status === 304) {
        say("on", "live");
      } else {
        const text = await answer.text();
        const exchanged = exchange(text);
        if (exchanged) tag = answer.headers.get("ETag") || "";
        say("on", exchanged ? "live" : "paused");
      }
    } catch {
      say("off", "not reachable");
    }
    busy = false;
    plan();
  };

  const plan = () => {
    clearTimeout(timer);
    if (!root.dataset.refresh) live.hidden = true;
    else if (!document.hidden) timer = setTimeout(look, Number(root.dataset.refresh));
  };

  // openTarget opens the element that the fragment of the URL names, and scrolls to it.
  const openTarget = () => {
    const to = document.getElementById(decodeURIComponent(location.hash.slice(1)));
    if (to && to.matches("details")) to.open = true;
    if (to) to.scrollIntoView({block: "center"});
  };

  addEventListener("pointerdown", () => pressed = true);
  for (const end of ["pointerup", "pointercancel"]) addEventListener(end, () => pressed = false);
  addEventListener("hashchange", openTarget);
  openTarget();
  document.addEventListener("visibilitychange", () => document.hidden ? clearTimeout(timer) : look());
  if (root.dataset.refresh) say("on", "live");
  plan();
})();
