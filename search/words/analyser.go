package words

import "strings"

// analyserWords bounds an Analyser's memory: it keeps the latest words it has seen, between this
// number and twice this number.
const analyserWords = 1 << 16

// Analysis is what an Analyser knows of a word. It belongs to its Analyser: only the goroutine that
// uses that one may read it.
type Analysis struct {
	Word
	Norm, FoldHash uint64 // Hash of Normalised and of Fold
	Units          int    // Units of Normalised
	terms          []termIn
}

// termIn is a word's term in a language.
type termIn struct {
	language string
	term     uint64
}

// Analyser splits texts like Split and Keyword, and keeps what it found out about each word, in
// bounded memory. It is not safe for concurrent use: have one per goroutine. The zero value is
// ready.
type Analyser struct {
	young, old map[string]*Analysis
	text       []byte
	out        []*Analysis
}

// Split is the package's Split. The returned slice is valid until the next call.
func (a *Analyser) Split(text string) ([]*Analysis, error) {
	b, ok := appendSimple(a.text[:0], text)
	if !ok {
		s, err := normaliseAny(text)
		if err != nil {
			return nil, err
		}
		b = append(b[:0], s...)
	}
	a.text = b
	a.out = a.out[:0]
	for from, to := next(b, 0); from < to; from, to = next(b, to) {
		a.out = append(a.out, a.word(b[from:to]))
	}
	return a.out, nil
}

// Keyword is the package's Keyword. The returned slice is valid until the next call.
func (a *Analyser) Keyword(text string) ([]*Analysis, error) {
	if err := checkLength(text); err != nil {
		return nil, err
	}
	out, err := a.Split(text)
	if err != nil {
		return nil, err
	}
	if err := CheckCount(out); err != nil {
		return nil, err
	}
	return out, nil
}

// Join returns the normalised words joined by spaces: the words of a natural key (serving.md §6).
func Join(list []*Analysis) string {
	if len(list) == 1 {
		return list[0].Normalised
	}
	size := len(list)
	for _, w := range list {
		size += len(w.Normalised)
	}
	var b strings.Builder
	b.Grow(size)
	for i, w := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(w.Normalised)
	}
	return b.String()
}

// Term returns TermOf(language, w.Fold), computed once per word and language.
func (a *Analyser) Term(language string, w *Analysis) uint64 {
	for i := range w.terms {
		if w.terms[i].language == language {
			return w.terms[i].term
		}
	}
	t := TermOf(language, w.Fold)
	w.terms = append(w.terms, termIn{language, t})
	return t
}

// word returns what is known about a normalised word.
func (a *Analyser) word(normalised []byte) *Analysis {
	if w := a.young[string(normalised)]; w != nil {
		return w
	}
	w := a.old[string(normalised)]
	if w == nil {
		s := string(normalised)
		w = &Analysis{Word: Word{Normalised: s, Fold: folded(s)}, Units: Units(s)}
		w.Norm, w.FoldHash = Hash(w.Normalised), Hash(w.Fold)
	}
	if len(a.young) >= analyserWords || a.young == nil {
		a.young, a.old = make(map[string]*Analysis), a.young
	}
	a.young[w.Normalised] = w
	return w
}
