// Ranks pages for a question, as pto_dialect/driver/explain/search/ranking.py does for --explain: the worker of the search box.
// It answers the messages of Material for MkDocs: SETUP with the index, QUERY with what was typed.
"use strict";

const SETUP = 0, READY = 1, QUERY = 2, RESULT = 3;
const WORD = /[a-z][a-z0-9^]*|[0-9]+/gi;
const NAME = 1.2, PHRASE = 0.9, SENTENCE = 0.7, FAMILY = 0.4, BODY = 0.35;
const IDENTIFIER = /[a-z_]\w*(?:[.:]+\w+)*/gi, FOREIGN = /[_.:]|[a-z][A-Z]/;
const CITED = 1.2, CLOSENESS = 2.0, EXACT = 10.0, SAID = 1.5, MENTIONED = 1.0, PREFIX = 2.5, NEAR = 0.3, UNKNOWN = 4.0, MOST = 20;

class Ranker {
  constructor(index) {
    this.synonyms = new Map(Object.entries(index.synonyms));
    this.endings = index.endings;
    this.silent = new Set(index.silent);
    this.directions = new Map(Object.entries(index.directions));
    this.phrases = index.phrases.map(([pattern, meant]) => [new RegExp(pattern, "gi"), meant]);
    this.entries = index.documents.map((row) => this.entry(row));
    const known = new Map();
    for (const { weights } of this.entries) for (const one of weights.keys()) known.set(one, (known.get(one) ?? 0) + 1);
    this.rarity = new Map([...known].map(([one, count]) => [one, Math.log(1 + this.entries.length / count)]));
  }

  entry([kind, key, location, summary, name, phrases, family, body, usual]) {
    const parts = new Set(name.flatMap((part) => this.concepts(part)));
    const meanings = phrases.map((phrase) => new Set(this.words(phrase)));
    const weights = new Map();
    const fields = [[parts, NAME], [this.words(summary), SENTENCE], [this.words(family), FAMILY],
      [meanings.flatMap((words) => [...words]), PHRASE], [this.words(body), BODY]];
    for (const [found, weight] of fields)
      for (const one of found) weights.set(one, Math.max(weights.get(one) ?? 0, weight));
    const said = new Set(phrases.map((phrase) => phrase.toLowerCase()));
    return { kind, key, location, summary, usual, parts, meanings, weights, said };
  }

  concepts(word) {
    word = word.toLowerCase();
    const without = (ending) => word.slice(0, word.length - ending.length);
    for (const [ending, instead] of this.endings) {
      const form = word.endsWith(ending) ? without(ending) + instead : word;
      if (this.synonyms.has(form)) return this.synonyms.get(form);
    }
    for (const [ending] of this.endings)
      if (ending && word.length > ending.length + 2 && word.endsWith(ending)) return [without(ending)];
    return [word];
  }

  words(text) {
    text = text.replace(/([a-z])([A-Z])/g, "$1 $2");
    for (const [pattern, meant] of this.phrases) text = text.replace(pattern, meant);
    const found = [];
    let direction = "";
    for (const word of text.match(WORD) ?? []) {
      direction = this.directions.get(word.toLowerCase()) ?? direction;
      if (this.silent.has(word.toLowerCase()) || (word.length === 1 && !/[0-9]/.test(word))) continue;
      const meant = this.concepts(word);
      found.push(...meant, ...(direction ? meant.map((one) => direction + one) : []));
      direction = "";
    }
    return found;
  }

  weight(one) {
    return this.rarity.get(one) ?? UNKNOWN;
  }

  closeness(entry, wanted) {
    let best = 0;
    for (const words of [entry.parts, ...entry.meanings]) {
      let both = 0, all = 0;
      for (const one of new Set([...words, ...wanted])) {
        all += this.weight(one);
        if (words.has(one) && wanted.has(one)) both += this.weight(one);
      }
      if (both) best = Math.max(best, both / all);
    }
    return best;
  }

  named(entry, typed, total) {
    const name = entry.key.replace(/^pto\./, "").replace(/^docs\//, "").replace(/\.md$/, "");
    if (name === typed) return EXACT;
    if (entry.said.has(typed)) return SAID * entry.usual;
    if (name.length > 2 && typed.split(/\s+/).includes(name))
      return (MENTIONED * [...new Set(this.words(name))].reduce((sum, one) => sum + this.weight(one), 0)) / total;
    return typed.length > 1 && name.startsWith(typed) ? (PREFIX * entry.usual * typed.length) / name.length : 0;
  }

  search(question) {
    const wanted = new Set(this.words(question));
    const typed = question.trim().toLowerCase().replace(/^pto\./, "");
    const cited = (question.match(IDENTIFIER) ?? []).filter((one) => FOREIGN.test(one)).map((one) => one.toLowerCase()).filter((one) => one !== typed);
    let total = 0;
    for (const one of wanted) total += this.weight(one);
    total ||= 1;
    const scored = [];
    for (const entry of this.entries) {
      let found = 0;
      for (const one of wanted) found += entry.weights.has(one) ? this.rarity.get(one) * entry.weights.get(one) : 0;
      const matched = found ? found / total + CLOSENESS * this.closeness(entry, wanted) : 0;
      // Sums in another order differ in the last digits.
      const elsewhere = cited.some((one) => one === entry.key || entry.said.has(one)) ? CITED * entry.usual : 0;
      const score = Math.round((matched * entry.usual + this.named(entry, typed, total) + elsewhere) * 1e9) / 1e9;
      if (score) scored.push([score, entry]);
    }
    const earlier = (a, b) => b[0] - a[0] || a[1].key.length - b[1].key.length || (a[1].key < b[1].key ? -1 : 1);
    return scored.sort(earlier).slice(0, MOST).filter(([score]) => score >= scored[0][0] * NEAR);
  }
}

const escaped = (text) => text.replace(/[&<>]/g, (char) => `&#${char.charCodeAt(0)};`);

function shown([score, { kind, key, location, summary }]) {
  // Of parts of a page, the box shows titles only.
  const title = kind === "page" ? summary : location.includes("#") && summary ? `${key}: ${summary}` : key;
  const text = kind === "page" ? key : `${kind}${summary ? `: ${summary}` : ""}`;
  return [{ location, title: escaped(title), text: escaped(text), score, terms: {} }];
}

let ranker;

self.addEventListener?.("message", ({ data: { type, data } }) => {
  if (type === SETUP) {
    ranker = new Ranker(data.docs);
    postMessage({ type: READY });
  } else if (type === QUERY) {
    postMessage({ type: RESULT, data: { items: data.trim() ? ranker.search(data).map(shown) : [], suggest: [] } });
  }
});
