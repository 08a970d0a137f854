package nodedata

import "adshard/search/words"

// maxForms bounds the words that a builder remembers; past it, it forgets all
// and starts again, which costs one analysis a word.
const maxForms = 1 << 16

// form is a word with its hashes; terms are filled on demand, by the index of
// the language in words.Languages.
type form struct {
	norm, fold uint64
	folded     string
	plain      uint64
	terms      []uint64
}

// formCache remembers words, since the keywords of a group share most of
// theirs.
type formCache struct {
	languages []string
	byWord    map[string]*form
	scratch   []*form
}

func newFormCache() *formCache {
	return &formCache{languages: words.Languages(), byWord: make(map[string]*form)}
}

// split returns the forms of a text's words; the slice is good until the next
// call.
func (c *formCache) split(text string) ([]*form, error) {
	list, err := words.Split(text)
	if err != nil {
		return nil, err
	}
	c.scratch = c.scratch[:0]
	for _, w := range list {
		c.scratch = append(c.scratch, c.form(w))
	}
	return c.scratch, nil
}

func (c *formCache) form(w words.Word) *form {
	if f, ok := c.byWord[w.Norm]; ok {
		return f
	}
	if len(c.byWord) >= maxForms {
		clear(c.byWord)
	}
	f := &form{norm: words.Hash(w.Norm), fold: words.Hash(w.Fold), folded: w.Fold}
	c.byWord[w.Norm] = f
	return f
}

// term returns the word's term in a language, "" for none.
func (c *formCache) term(f *form, language string) uint64 {
	if language == "" {
		if f.plain == 0 {
			f.plain = words.Term("", f.folded)
		}
		return f.plain
	}
	if f.terms == nil {
		f.terms = make([]uint64, len(c.languages))
	}
	for i, l := range c.languages {
		if l != language {
			continue
		}
		if f.terms[i] == 0 {
			stem, _ := words.Stem(l, f.folded)
			f.terms[i] = words.Term(l, stem)
		}
		return f.terms[i]
	}
	return 0
}
