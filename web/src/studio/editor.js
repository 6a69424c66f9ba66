// The model's text: CodeMirror, with errors at their places, quick fixes and completion.
import { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap } from "@codemirror/autocomplete";
import { defaultKeymap, history, historyKeymap, indentWithTab, redo, undo } from "@codemirror/commands";
import { bracketMatching, indentOnInput } from "@codemirror/language";
import { forceLinting, lintGutter, lintKeymap, setDiagnostics } from "@codemirror/lint";
import { highlightSelectionMatches, searchKeymap } from "@codemirror/search";
import { EditorState, StateEffect, StateField, Transaction } from "@codemirror/state";
import {
  Decoration, EditorView, drawSelection, dropCursor, highlightActiveLine, highlightActiveLineGutter, highlightSpecialChars, keymap, lineNumbers,
} from "@codemirror/view";
import { completions } from "./completion.js";
import { language } from "./language.js";

// Lines of what is picked in the view.
const picked = StateEffect.define();
const pickedLines = StateField.define({
  create: () => Decoration.none,
  update(marks, transaction) {
    for (const effect of transaction.effects) if (effect.is(picked)) return effect.value;
    return marks.map(transaction.changes);
  },
  provide: (field) => EditorView.decorations.from(field),
});

export class Editor {
  // changed: called after each change of the text; atLine: with the line of the cursor, counted from 1.
  constructor(parent, { changed, atLine, save, known }) {
    this.changed = changed;
    this.view = new EditorView({
      parent,
      state: EditorState.create({ doc: "", extensions: this.#extensions({ atLine, save, known }) }),
    });
  }

  get text() {
    return this.view.state.doc.toString();
  }

  // Another text; with `undoable` it is a change that undo takes back.
  load(text, undoable = false) {
    const { state } = this.view;
    const head = Math.min(state.selection.main.head, text.length);
    const annotations = undoable ? [] : [Transaction.addToHistory.of(false)];
    this.view.dispatch({ changes: { from: 0, to: state.doc.length, insert: text }, selection: { anchor: undoable ? head : 0 }, annotations });
  }

  // Errors as { message, remedy, line, column, fix }.
  mark(errors) {
    const found = errors.map((error) => this.#diagnostic(error));
    this.view.dispatch(setDiagnostics(this.view.state, found));
    forceLinting(this.view);
  }

  // Show some lines, counted from 1; none without them.
  pick(first, last = first, scroll = true) {
    const { doc } = this.view.state;
    const marks = [];
    for (let line = first ?? 1; first && line <= Math.min(last, doc.lines); line++) {
      marks.push(Decoration.line({ class: "picked-line" }).range(doc.line(line).from));
    }
    const effects = [picked.of(Decoration.set(marks))];
    if (marks.length && scroll) effects.push(EditorView.scrollIntoView(marks[0].from, { y: "nearest", yMargin: 40 }));
    this.view.dispatch({ effects });
  }

  insert(text, at) {
    this.view.dispatch({ changes: { from: at, insert: text } });
  }

  undo() {
    undo(this.view);
  }

  redo() {
    redo(this.view);
  }

  focus() {
    this.view.focus();
  }

  #extensions({ atLine, save, known }) {
    return [
      EditorView.cspNonce.of(document.querySelector("meta[name=nonce]").content),
      lineNumbers(), highlightActiveLineGutter(), highlightSpecialChars(), history(), drawSelection(), dropCursor(),
      indentOnInput(), bracketMatching(), closeBrackets(), highlightActiveLine(), highlightSelectionMatches(), lintGutter(),
      pickedLines, language, autocompletion({ override: [completions(known)] }), EditorView.lineWrapping,
      EditorView.contentAttributes.of({ "aria-label": "Model text", spellcheck: "false" }),
      keymap.of([
        { key: "Mod-s", run: () => (save(), true), preventDefault: true },
        ...closeBracketsKeymap, ...defaultKeymap, ...searchKeymap, ...historyKeymap, ...completionKeymap, ...lintKeymap, indentWithTab,
      ]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) this.changed();
        else if (update.selectionSet) atLine(update.state.doc.lineAt(update.state.selection.main.head).number);
      }),
    ];
  }

  #diagnostic({ message, remedy, line, column, fix }) {
    const { doc } = this.view.state;
    const at = doc.line(Math.min(Math.max(line ?? 1, 1), doc.lines));
    const from = Math.min(at.from + Math.max((column ?? 1) - 1, 0), at.to);
    const word = /^[\p{L}\p{N}_$.]+/u.exec(doc.sliceString(from, at.to));
    const to = line ? Math.max(from + (word?.[0].length ?? 1), from) : at.to;
    const actions = fix ? [this.#action(fix)].filter(Boolean) : [];
    return { from: Math.min(from, doc.length), to: Math.min(to, doc.length), severity: "error", message: remedy ? `${message}\n${remedy}` : message, actions };
  }

  #action(fix) {
    if (fix.value) {
      return { name: `give ${fix.value} a value`, apply: (view) => this.#give(view, fix.value) };
    }
    return {
      name: `replace with ${fix.with}`,
      apply: (view, from) => {
        const line = view.state.doc.lineAt(from);
        const at = Math.max(line.text.indexOf(fix.replace, Math.max(from - line.from - fix.replace.length, 0)), 0);
        if (line.text.includes(fix.replace)) {
          view.dispatch({ changes: { from: line.from + at, to: line.from + at + fix.replace.length, insert: fix.with } });
        }
      },
    };
  }

  // `parameters a, b` becomes `parameters a = 1, b`.
  #give(view, name) {
    const text = view.state.doc.toString();
    for (const found of text.matchAll(/\bparameters\b[^;]*/g)) {
      const place = found[0].search(new RegExp(`(?<![\\p{L}\\p{N}_$])${name.replaceAll("$", "\\$")}(?![\\p{L}\\p{N}_$])`, "u"));
      if (place < 0) continue;
      const at = found.index + place + name.length;
      view.dispatch({ changes: { from: at, insert: " = 1" }, selection: { anchor: at + 3, head: at + 4 } });
      view.focus();
      return;
    }
  }
}
