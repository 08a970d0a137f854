package search_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"adshard/fault"
	"adshard/internal/oracle"
	"adshard/internal/oracle/oracletest"
	"adshard/search"
	"adshard/search/words"
)

// slowTerms returns the senses that serving.md §2 gives a query, by term, in no order.
func slowTerms(in words.Languages, text string, reach search.Level, lex *words.Lexicon, vocabulary map[string]int) map[uint64]map[search.Sense]bool {
	terms := map[uint64]map[search.Sense]bool{}
	add := func(term uint64, s search.Sense) {
		if terms[term] == nil {
			terms[term] = map[search.Sense]bool{}
		}
		terms[term][s] = true
	}
	split, _ := slowUnits(text)
	_, runs := slowRuns(split)
	for i, run := range runs {
		for _, l := range append(in.Codes(), "") {
			add(words.TermOf(l, run), search.Sense{Word: uint16(len(split) + i)})
		}
	}
	for i, w := range split {
		add(words.Term("", w.Fold), search.Sense{Word: uint16(i)})
		for _, l := range in.Codes() {
			stem, _ := words.Stem(l, w.Fold)
			add(words.Term(l, stem), search.Sense{Word: uint16(i)})
			if reach < search.Synonym {
				continue
			}
			for _, s := range lex.Synonyms(l, w.Fold) {
				if words.IsRun(w.Fold) || words.IsRun(s) {
					continue
				}
				stem, _ := words.Stem(l, s)
				add(words.Term(l, stem), search.Sense{Word: uint16(i), Synonym: words.Hash(s)})
			}
		}
		if reach < search.Misspelt {
			continue
		}
		for _, c := range oracle.Corrections(vocabulary, w.Fold) {
			sense := search.Sense{Word: uint16(i), Misspelt: true, Synonym: words.Hash(c)}
			add(words.Term("", c), sense)
			for _, l := range in.Codes() {
				stem, _ := words.Stem(l, c)
				add(words.Term(l, stem), sense)
			}
		}
	}
	return terms
}

// slowUnits returns the units of a text that a query uses, and whether there are more.
func slowUnits(text string) (units []words.Word, more bool) {
	split, _ := words.Split(text)
	for i, w := range split {
		for _, unit := range words.AppendUnits(nil, w.Normalised) {
			if i == 32 || len(units) == 40 {
				return units, true
			}
			if unit != w.Normalised {
				w = words.Word{Normalised: unit, Fold: unit}
			}
			units = append(units, w)
		}
	}
	return units, false
}

// slowRuns returns the runs of several units, and their texts.
func slowRuns(units []words.Word) (runs []search.Run, texts []string) {
	for from := range units {
		for to := from + 2; to <= len(units); to++ {
			if text, ok := slowRun(units[from:to]); ok {
				runs = append(runs, search.Run{Norm: words.Hash(text), Word: uint8(from), More: uint8(to - from - 1)})
				texts = append(texts, text)
			}
		}
	}
	return runs, texts
}

// slowRun returns the run that has the given units. ok is false if there is none.
func slowRun(units []words.Word) (run string, ok bool) {
	var list []string
	for _, u := range units {
		run, list = run+u.Normalised, append(list, u.Normalised)
	}
	split, err := words.Split(run)
	return run, err == nil && len(split) == 1 && words.IsRun(run) && slices.Equal(words.AppendUnits(nil, run), list)
}

// checkQuery compares a query with slowTerms.
func checkQuery(q *search.Query, in words.Languages, text string, reach search.Level, lex *words.Lexicon, vocabulary map[string]int) error {
	want := slowTerms(in, text, reach, lex, vocabulary)
	units, _ := slowUnits(text)
	if runs, _ := slowRuns(units); !slices.Equal(q.Runs, runs) {
		return fmt.Errorf("the runs %+v, want %+v", q.Runs, runs)
	}
	if len(q.Terms) != len(want) {
		return fmt.Errorf("%d terms, want %d", len(q.Terms), len(want))
	}
	before := search.Identical
	for i := range q.Terms {
		t := &q.Terms[i]
		for _, s := range t.Senses {
			if !want[t.Term][s] {
				return fmt.Errorf("term %d: sense %+v is not wanted", i, s)
			}
		}
		if len(t.Senses) != len(want[t.Term]) || cap(t.Senses) != len(t.Senses) {
			return fmt.Errorf("term %d: %d senses of %d, want %d", i, len(t.Senses), cap(t.Senses), len(want[t.Term]))
		}
		if t.Cap() < before {
			return fmt.Errorf("term %d: %v stands after %v", i, t.Cap(), before)
		}
		before = t.Cap()
	}
	return nil
}

func TestExpandIsTheOracles(t *testing.T) {
	lex := oracletest.Lexicon()
	rapid.Check(t, func(t *rapid.T) {
		r := oracletest.DrawRequest(t, oracletest.Draw(t))
		text, reach := r.Text, r.Variants
		in, err := words.ParseLanguages(rapid.SampledFrom([]string{"", "cs", "cs,de,en", strings.Join(words.Stemmed(), ",")}).Draw(t, "languages"))
		if err != nil {
			t.Fatal(err)
		}
		q, err := oracletest.Expand(&oracle.Request{Text: text, Variants: reach, Vocabulary: r.Vocabulary, Languages: in}, lex)
		if err != nil {
			t.Fatal(err)
		}
		units, more := slowUnits(text)
		if q.Text != text || len(q.Words) != len(units) || q.Truncated != more {
			t.Fatalf("%q: %d words, truncated %v", text, len(q.Words), q.Truncated)
		}
		if err := checkQuery(q, in, text, reach, lex, r.Vocabulary); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
	})
}

// TestExpandKatakana: a keyword's word in katakana is one unit, so two words of a query are not parts of it.
func TestExpandKatakana(t *testing.T) {
	for text, want := range map[string]int{"スマホ ケース": 0, "スマホ、袋": 1, "手・机": 1, "カ手カ": 3} {
		if q, err := search.Expand(text, search.Identical, nil); err != nil || len(q.Runs) != want {
			t.Errorf("%q: %+v, %v; want %d runs", text, q, err, want)
		}
	}
}

func TestExpandWithoutLexicon(t *testing.T) {
	q, err := search.Expand("phone light", search.Synonym, nil)
	if err != nil {
		t.Fatal(err)
	}
	for i := range q.Terms {
		if q.Terms[i].Cap() != search.Identical {
			t.Fatalf("term %d is a synonym's", i)
		}
	}
}

func TestExpandRefuses(t *testing.T) {
	for _, c := range []struct{ text, reason string }{
		{strings.Repeat("a", 1025), "1025 bytes"},
		{"usb \xff", "UTF-8"},
		{strings.Repeat("́", 31), ""},
	} {
		_, err := search.Expand(c.text, search.Synonym, nil)
		if !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != "q" || !strings.Contains(err.Error(), c.reason) {
			t.Errorf("%.20q: error %v", c.text, err)
		}
	}
	for _, text := range []string{"", " ", "!?-", strings.Repeat("a", 1024)} {
		if _, err := search.Expand(text, search.Synonym, nil); err != nil {
			t.Errorf("%.20q is refused: %v", text, err)
		}
	}
}

func TestExpandOfNoWord(t *testing.T) {
	q, err := search.Expand(" … ", search.Synonym, nil)
	if err != nil || len(q.Words) != 0 || len(q.Terms) != 0 || q.Truncated {
		t.Fatalf("%+v, %v", q, err)
	}
}

// FuzzExpand: any bytes are expanded correctly or refused as invalid.
func FuzzExpand(f *testing.F) {
	lex := oracletest.Lexicon()
	for _, text := range []string{
		"usb cable", "běžecké boty light", "", "!", "\xff", "ﬁlter ½ ǅ", strings.Repeat("x ", 40),
		"a" + strings.Repeat("̈", 31), "İZMİR STRAẞE", "ΟΔΟΣ", "iPhone15手机壳 3月", "スマホ ケース・らーめん", "ภาษาไทย ๑๒",
		strings.Repeat("手机壳", 15), strings.Repeat("x手", 20),
	} {
		f.Add(text, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, reach uint8) {
		r := search.Level(reach % uint8(search.Levels))
		q, err := search.Expand(text, r, lex)
		if err != nil {
			if !fault.Is(err, fault.Invalid) || fault.FieldOf(err) != "q" {
				t.Fatalf("%q: error of kind %v, field %q: %v", text, fault.KindOf(err), fault.FieldOf(err), err)
			}
			return
		}
		if len(text) > search.MaxQueryBytes || len(q.Words) > search.MaxQueryUnits {
			t.Fatalf("%q: not refused or not cut", text)
		}
		if err := checkQuery(q, words.Default, text, r, lex, nil); err != nil {
			t.Fatalf("%q: %v", text, err)
		}
		again, err := search.Expand(text, r, lex)
		same := func(a, b search.QueryTerm) bool { return a.Term == b.Term && slices.Equal(a.Senses, b.Senses) }
		if err != nil || !slices.EqualFunc(q.Terms, again.Terms, same) {
			t.Fatalf("%q: another result the second time", text)
		}
	})
}

func BenchmarkExpand(b *testing.B) {
	lex := oracletest.Lexicon()
	for _, list := range []string{words.Default.String(), strings.Join(words.Stemmed(), ",")} {
		in, err := words.ParseLanguages(list)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(list, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := search.ExpandIn(in, "wireless usb cable for phone", search.Synonym, lex); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
