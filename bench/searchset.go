package bench

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"adshard/bench/layouts"
	"adshard/bench/layouts/setups"
	"adshard/fault"
	"adshard/internal/corpus"
	"adshard/internal/outfile"
	"adshard/internal/progress"
)

// setFlags says which keywords and queries layouts are measured with.
type setFlags struct {
	data     string
	work     workDir
	kind     string
	perGroup int
	queries  int
	seed     uint64
}

func (f *setFlags) flags(flags *pflag.FlagSet) {
	flags.IntVar(&f.queries, "query-count", 2000, "how many queries a setup has at most")
	flags.StringVar(&f.kind, "set", "corpus", "which keywords, see above")
	f.source(flags)
}

// source defines the flags about what a corpus is made of, and where it is kept.
func (f *setFlags) source(flags *pflag.FlagSet) {
	flags.StringVar(&f.data, "data", "", `directory with catalogue/ and queries/; "extract": the built-in extract`)
	flags.Var(&f.work, "work", "directory that keeps the keywords for the next time, and stores meanwhile; \"\": a temporary one")
	flags.IntVar(&f.perGroup, "group-keywords", 0, "about how many keywords a group has; 0: 11")
	flags.Uint64Var(&f.seed, "seed", 1, "decides the keywords and the queries")
}

// maker returns a function that makes the set that --set names from the set of the corpus.
func (f *setFlags) maker() (func(*layouts.Set) *layouts.Set, error) {
	switch f.kind {
	case "corpus":
		return func(s *layouts.Set) *layouts.Set { return s }, nil
	case "shared-word":
		return func(s *layouts.Set) *layouts.Set { return layouts.SharedWord(s, "the") }, nil
	case "only-common":
		return func(s *layouts.Set) *layouts.Set { return layouts.OnlyCommon(s, 32, f.seed) }, nil
	case "one-advertiser":
		return layouts.OneAdvertiser, nil
	}
	return nil, fmt.Errorf("--set %s: corpus, shared-word, only-common or one-advertiser", f.kind)
}

// setupHelp lists the setups.
const setupHelp = `  log                 queries of real logs and of the keywords' titles, as they come
  words 1 … 32        queries of 1, 2, 4, 8, 16, 32 words
  matches 0 … 100000  queries with about 0, 10, 1000, 10000, 100000 matches
  four 30 … 30000     the log's of four words with about 30, 3000, 30000 matches
  hot                 two to four of the 64 commonest words
  stop                the 32 commonest words at once
  SQ, SQ2, RQ1600     the thesis': a query with few matches, one with about 136,
                      1600 random ones
`

// directory returns a working directory, and a function that removes it at the end.
func (f *setFlags) directory() (dir string, remove func() error, err error) {
	m := madeFlags{work: f.work}
	return m.directory()
}

// setOf makes the given number of keywords, or reads them if they were kept, and makes the
// setups that are named. lacking lists setups of a named group that these keywords do not
// have.
func (f *setFlags) setOf(ctx context.Context, keywords int64, named []string, dir string, p *progress.Line) (_ *layouts.Set, _ []layouts.Setup, lacking []setups.Lacking, err error) {
	files, from := sourceOf(f.data)
	c, err := corpus.Open(files)
	if err != nil {
		return nil, nil, nil, err
	}
	o := corpus.Options{Keywords: keywords, Queries: max(20_000, f.queries), Seed: f.seed, PerGroup: f.perGroup}
	what := fmt.Sprintf("%d keywords from %s", keywords, from)
	p.Share(what, 0)
	set, err := f.keptSet(ctx, c, o, dir, func(done float64) { p.Share(what, done) })
	if err != nil {
		return nil, nil, nil, err
	}
	made, err := f.maker()
	if err != nil {
		return nil, nil, nil, err
	}
	set = made(set)
	p.Share("queries", -1)
	log, err := setups.Log(c, o)
	if err != nil {
		return nil, nil, nil, err
	}
	all, lacking, err := setups.Make(ctx, set, log, setups.Options{Queries: f.queries, Seed: f.seed})
	if err != nil {
		return nil, nil, nil, err
	}
	chosen, without, err := chooseSetups(all, lacking, named)
	for i := range chosen {
		if f.kind != "corpus" {
			chosen[i].Name += ", " + f.kind
		}
	}
	return set, chosen, without, err
}

// keptSet reads the set of an earlier run in the same directory, or makes it.
func (f *setFlags) keptSet(ctx context.Context, c *corpus.Corpus, o corpus.Options, dir string, report func(float64)) (*layouts.Set, error) {
	made := ""
	if f.data != "" {
		made = "-" + filepath.Base(f.data)
	}
	path := filepath.Join(dir, fmt.Sprintf("keywords-%d-%d-%d%s.set", o.Keywords, o.PerGroup, o.Seed, made))
	set, err := layouts.Load(path)
	if err == nil || !fault.Is(err, fault.NotFound) {
		return set, err
	}
	if set, err = layouts.FromCorpus(ctx, c, o, report); err != nil {
		return nil, err
	}
	if err := outfile.MakeDir(dir); err != nil {
		return nil, err
	}
	return set, set.Save(path)
}

// setupNames returns the names of the chosen setups, in the order of setups.Names. A setup
// is chosen by its name, by the first word of it, or by "all".
func setupNames(named []string) (out []string, err error) {
	found := make(map[string]bool)
	for _, name := range setups.Names() {
		first, _, _ := strings.Cut(name, " ")
		in := false
		for _, n := range named {
			if n == "all" || n == name || n == first {
				in, found[n] = true, true
			}
		}
		if in {
			out = append(out, name)
		}
	}
	for _, n := range named {
		if !found[n] {
			return nil, fmt.Errorf("--setups: there is no setup %q; there are:\n%s", n, setupHelp)
		}
	}
	if len(out) == 0 {
		return nil, errors.New("--setups names none: name at least one, such as log")
	}
	return out, nil
}

// chooseSetups returns the setups that setupNames gives. For a lacking setup, it returns an
// error if the setup itself is named, and adds it to the second result if its group is
// named.
func chooseSetups(all []layouts.Setup, lacking []setups.Lacking, named []string) ([]layouts.Setup, []setups.Lacking, error) {
	names, err := setupNames(named)
	if err != nil {
		return nil, nil, err
	}
	chosen := slices.DeleteFunc(all, func(s layouts.Setup) bool { return !slices.Contains(names, s.Name) })
	without := slices.DeleteFunc(lacking, func(l setups.Lacking) bool { return !slices.Contains(names, l.Name) })
	for _, l := range without {
		if slices.Contains(named, l.Name) || len(chosen) == 0 {
			return nil, nil, fmt.Errorf("--setups %s: %s", l.Name, l.Why)
		}
	}
	return chosen, without, nil
}
