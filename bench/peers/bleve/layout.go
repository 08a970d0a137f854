package bleve

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/blevesearch/bleve/v2"
	"github.com/blevesearch/bleve/v2/analysis/analyzer/keyword"
	"github.com/blevesearch/bleve/v2/mapping"

	"adshard/bench/layouts"
	"adshard/fault"
)

// The fields of a document.
const (
	anchorField = "anchor" // the keyword's rarest word
	wordsField  = "words"
)

// batch is the number of documents that are built at once.
const batch = 20_000

// Anchored is the layout "bleve": keywords as documents, found by their rarest
// words.
type Anchored struct{}

// Name implements layouts.Layout.
func (Anchored) Name() string { return "bleve" }

// Provides implements layouts.Layout.
func (Anchored) Provides() layouts.Provides { return layouts.Provides{Matches: true, Sum: true} }

// Build implements layouts.Layout. Options.CacheBytes has no effect: the
// system maps the index to memory.
func (Anchored) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	fields := mapped(map[string]*mapping.FieldMapping{anchorField: field(false), wordsField: field(true)})
	err := build(ctx, set, o, fields, func(i int) map[string]any {
		return map[string]any{anchorField: set.Words[set.Rarest(i)], wordsField: ordered(set, i)}
	})
	if err != nil {
		return nil, err
	}
	return open(o.Dir, newAnchored)
}

// Terms is the layout "bleve-terms": keywords as terms, found by prefix.
type Terms struct{}

// Name implements layouts.Layout.
func (Terms) Name() string { return "bleve-terms" }

// Provides implements layouts.Layout.
func (Terms) Provides() layouts.Provides { return layouts.Provides{Matches: true, Sum: true} }

// Build implements layouts.Layout. Options.CacheBytes has no effect: the
// system maps the index to memory.
func (Terms) Build(ctx context.Context, set *layouts.Set, o layouts.Options) (layouts.Store, error) {
	fields := mapped(map[string]*mapping.FieldMapping{wordsField: field(false)})
	err := build(ctx, set, o, fields, func(i int) map[string]any {
		return map[string]any{wordsField: term(ordered(set, i))}
	})
	if err != nil {
		return nil, err
	}
	return open(o.Dir, newTerms)
}

// field returns the mapping of a field that is searched as a whole, with doc
// values if it is to be read.
func field(docValues bool) *mapping.FieldMapping {
	f := bleve.NewTextFieldMapping()
	f.Analyzer = keyword.Name
	f.Store, f.IncludeInAll, f.IncludeTermVectors = false, false, false
	f.SkipFreqNorm, f.DocValues = true, docValues
	return f
}

// mapped returns a mapping with these fields and no others.
func mapped(fields map[string]*mapping.FieldMapping) mapping.IndexMapping {
	m := bleve.NewIndexMapping()
	m.DefaultMapping = bleve.NewDocumentStaticMapping()
	for name, f := range fields {
		m.DefaultMapping.AddFieldMappingsAt(name, f)
	}
	return m
}

// ordered returns the words of keyword i: the rarest first, the others in
// their order.
func ordered(set *layouts.Set, i int) []string {
	rarest := set.Rarest(i)
	words := []string{set.Words[rarest]}
	for _, w := range set.Of(i) {
		if w != rarest {
			words = append(words, set.Words[w])
		}
	}
	slices.Sort(words[1:])
	return words
}

// build writes the index; document returns the fields of keyword i.
func build(ctx context.Context, set *layouts.Set, o layouts.Options, m mapping.IndexMapping, document func(i int) map[string]any) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if set.Len() == 0 {
		return fault.Newf(fault.Invalid, "bleve: build", "Bleve builds no index without documents: give at least one keyword")
	}
	scratch := filepath.Join(o.Dir, "scratch")
	if err := os.Mkdir(scratch, 0o700); err != nil {
		return err
	}
	b, err := bleve.NewBuilder(indexDir(o.Dir), m, map[string]any{"batchSize": batch, "buildPathPrefix": scratch})
	if err != nil {
		return fault.New(fault.Internal, "bleve: build", err)
	}
	if err := add(ctx, b, set, o, document); err != nil {
		return errors.Join(err, b.Close())
	}
	return errors.Join(b.Close(), os.RemoveAll(scratch))
}

func add(ctx context.Context, b bleve.Builder, set *layouts.Set, o layouts.Options, document func(i int) map[string]any) error {
	for n, i := range byRarest(set) {
		if n > 0 && n%batch == 0 {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			if o.Progress != nil {
				o.Progress(float64(n) / float64(set.Len()))
			}
		}
		if err := b.Index(strconv.FormatUint(set.ID(i), 10), document(i)); err != nil {
			return fault.New(fault.Internal, "bleve: build", err)
		}
	}
	return nil
}

// byRarest returns the keywords in the order of their rarest words.
func byRarest(set *layouts.Set) []int {
	all := make([]int, set.Len())
	for i := range all {
		all[i] = i
	}
	slices.SortStableFunc(all, func(a, b int) int { return int(set.Rarest(a)) - int(set.Rarest(b)) })
	return all
}

func indexDir(dir string) string { return filepath.Join(dir, "index") }
