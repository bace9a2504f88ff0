// The catalogue follows what is saved elsewhere, unless somebody is typing in its filter.
import { $ } from "./dom.js";
import { follow } from "./events.js";

follow({}, { RailsWorkflowsChanged: () => { if (!$(".filters :focus")) location.reload(); } });
