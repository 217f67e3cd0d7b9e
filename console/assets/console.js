// Keeps the parts of a page that are marked data-live up to date. Without this
// script the pages say the same, as of when they were loaded.
"use strict";

const pulse = document.getElementById("pulse");
const every = 3000; // ms between looks where changes are not announced
let busy = false, again = false;

const say = (text, state) => {
  pulse.hidden = false;
  pulse.textContent = text;
  pulse.className = "pulse " + state;
};

// inUse tells whether somebody is reading or writing in there.
const inUse = part => part.contains(document.activeElement) && document.activeElement.matches("input, select, pre")
  || part.querySelector("details[open]") !== null;

// replace puts the parts of a newly made page in the place of the old ones.
const replace = page => {
  for (const part of document.querySelectorAll("[data-live]")) {
    const next = page.getElementById(part.id);
    if (next && !inUse(part) && next.outerHTML !== part.outerHTML) part.replaceWith(next);
  }
};

const refresh = async () => {
  if (busy) { again = true; return; }
  busy = true;
  try {
    const answer = await fetch(location.href, { headers: { Accept: "text/html" } });
    if (!answer.ok) throw new Error(answer.statusText);
    replace(new DOMParser().parseFromString(await answer.text(), "text/html"));
    say("live", "on");
  } catch {
    say("no connection", "off");
  }
  busy = false;
  if (again) { again = false; refresh(); }
};

const poll = () => setInterval(() => { if (!document.hidden) refresh(); }, every);

// follow listens to what is announced about one transaction, until it is final.
const follow = address => {
  const events = new EventSource(address);
  events.onopen = () => say("live", "on");
  events.onmessage = async () => {
    await refresh();
    if (!document.querySelector("[data-events]")) events.close();
  };
  events.onerror = () => {
    say("no connection", "off");
    if (events.readyState === EventSource.CLOSED) poll();
  };
};

const announced = document.querySelector("[data-events]");
if (announced) follow(announced.dataset.events);
else if (document.querySelector("#rows")) poll();
