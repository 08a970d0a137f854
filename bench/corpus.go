package bench

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"adshard/internal/corpus"
	"adshard/internal/outfile"
)

// corpusFlags are the flags of `adbench corpus`.
type corpusFlags struct {
	out, queries, targeting, contexts string
	data, encoding                    string
	options                           corpus.Options
	force                             bool
}

// CorpusCommand returns the subcommand corpus, which writes an Editor file of
// any size and queries to go with it.
func CorpusCommand() *cobra.Command {
	var f corpusFlags
	cmd := &cobra.Command{
		Use:   "corpus --keywords N --out FILE [--queries FILE]",
		Short: "Derive a Google Ads Editor file of any size, and queries, from real catalogues",
		Long: `Derive a Google Ads Editor file of any size, and queries, from real catalogues.

The same seed and sources give the same bytes. Without --data, the directory
shared/data beside the repository is used when it is there, else the small
licensed extract that is part of the program.

With --targeted, that share of the campaigns has dates, schedules, places, circles,
audiences, sites and categories. They are JSON lines, to be imported behind the
Editor file, which is the same with and without them. The contexts are of users
whom most of these campaigns want, each with other bids.`,
		Example: `  adbench corpus --keywords 430000 --out ads.csv --queries queries.txt
  adbench corpus --targeted 0.8 --profiles 500 --out ads.csv --targeting targeting.jsonl --queries queries.txt --contexts contexts.txt
  adshard import --db sqlite:ads.db ads.csv targeting.jsonl`,
		Args: f.check,
		RunE: func(cmd *cobra.Command, _ []string) error {
			return f.run(cmd.Context(), cmd.OutOrStdout())
		},
	}
	flags := cmd.Flags()
	flags.Int64Var(&f.options.Keywords, "keywords", 100_000, "number of keywords, usually 10,000 to 10,000,000")
	flags.IntVar(&f.options.PerGroup, "group-keywords", 0, "about how many keywords a group gets, up to 40; 0: 11 (the thesis' corpus has 34)")
	flags.Uint64Var(&f.options.Seed, "seed", 1, "all follows from it")
	flags.BoolVar(&f.options.Demo, "demo", false, "names, titles and queries for people to look at, as in the demo")
	flags.BoolVar(&f.options.Specific, "specific", false, "quality follows how specific a keyword is, as in the demo; otherwise it is drawn")
	flags.StringVar(&f.out, "out", "", "the Editor file to write (required)")
	flags.StringVar(&f.queries, "queries", "", "the file of queries to write, one a line")
	flags.IntVar(&f.options.Queries, "query-count", 20_000, "number of queries")
	flags.Float64Var(&f.options.Targeted, "targeted", 0, "share of the campaigns that have targeting, 0 to 1")
	flags.IntVar(&f.options.Profiles, "profiles", 500, "from how many distinct ones theirs is drawn; above 10,000 each campaign has one of its own")
	flags.StringVar(&f.targeting, "targeting", "", "the file of JSON lines to write with what --targeted asks for")
	flags.StringVar(&f.contexts, "contexts", "", "the file of contexts to write, one a line as parameters of a search, as many as --query-count says")
	flags.StringVar(&f.data, "data", "", `directory with catalogue/ and queries/; "extract": the built-in extract`)
	flags.BoolVar(&f.force, "force", false, "let outputs replace files that this command is not known to have written; it knows Editor files only")
	flags.StringVar(&f.encoding, "encoding", string(corpus.UTF16), "utf-16 (as Google Ads Editor writes) or utf-8")
	return cmd
}

// check rejects invalid flags before anything is read.
func (f *corpusFlags) check(cmd *cobra.Command, args []string) error {
	switch e := corpus.Encoding(f.encoding); {
	case f.out == "":
		return errors.New("--out is missing: name the file to write")
	case f.options.Keywords < 1:
		return fmt.Errorf("--keywords %d: 1 or more", f.options.Keywords)
	case f.options.PerGroup < 0 || f.options.PerGroup > 40:
		return fmt.Errorf("--group-keywords %d: 0 to 40", f.options.PerGroup)
	case f.options.Queries < 0:
		return fmt.Errorf("--query-count %d: 0 or more", f.options.Queries)
	case e != corpus.UTF8 && e != corpus.UTF16:
		return fmt.Errorf("--encoding %s: utf-8 or utf-16", e)
	case !(f.options.Targeted >= 0 && f.options.Targeted <= 1):
		return fmt.Errorf("--targeted %g: a share from 0 to 1", f.options.Targeted)
	case f.options.Profiles < 1:
		return fmt.Errorf("--profiles %d: 1 or more", f.options.Profiles)
	case (f.options.Targeted > 0) != (f.targeting != ""):
		return errors.New("--targeted and --targeting need each other: name a share of the campaigns, and the file for what they say")
	}
	if err := outfile.Check(nil, f.editor(), f.list("--queries", f.queries, "a file of queries"), f.list("--targeting", f.targeting, "JSON lines"),
		f.list("--contexts", f.contexts, "a file of contexts")); err != nil {
		return err
	}
	return cobra.NoArgs(cmd, args)
}

func (f *corpusFlags) run(ctx context.Context, out io.Writer) error {
	files, from := sourceOf(f.data)
	f.options.Encoding = corpus.Encoding(f.encoding)
	c, err := corpus.Open(files)
	if err != nil {
		return err
	}
	start := time.Now()
	var sum corpus.Summary
	err = f.editor().Write(func(w io.Writer) error {
		sum, err = c.Write(ctx, w, f.options)
		return err
	})
	if err != nil {
		return err
	}
	took := time.Since(start)
	fmt.Fprintf(out, "%s: %d keywords in %d groups, %d rows, %d bytes, from %d titles of %s used %d times; %.1f s, %.0f rows/s\n",
		f.out, sum.Keywords, sum.Groups, sum.Rows, sum.Bytes, sum.Items, from, sum.Rounds,
		took.Seconds(), float64(sum.Rows)/took.Seconds())
	return f.beside(ctx, c, out)
}

// beside writes the files that go with the Editor file.
func (f *corpusFlags) beside(ctx context.Context, c *corpus.Corpus, out io.Writer) error {
	for _, one := range [...]struct {
		flag, path, what string
		write            func(io.Writer) (int, error)
	}{
		{"--queries", f.queries, "queries", func(w io.Writer) (int, error) { return c.WriteQueries(w, f.options) }},
		{"--targeting", f.targeting, "campaigns with targeting", func(w io.Writer) (int, error) { return c.WriteTargeting(ctx, w, f.options) }},
		{"--contexts", f.contexts, "contexts", func(w io.Writer) (int, error) { return c.WriteContexts(w, f.options) }},
	} {
		if one.path == "" {
			continue
		}
		n := 0
		err := f.list(one.flag, one.path, one.what).Write(func(w io.Writer) (err error) {
			n, err = one.write(w)
			return err
		})
		if err != nil {
			return err
		}
		fmt.Fprintf(out, "%s: %d %s\n", one.path, n, one.what)
	}
	return nil
}

// sourceOf returns the catalogues to use, and a name for them.
func sourceOf(data string) (fs.FS, string) {
	switch data {
	case "extract":
		return corpus.Extract(), "the built-in extract"
	case "":
		if dir, ok := besideRepository(); ok {
			return os.DirFS(dir), dir
		}
		return corpus.Extract(), "the built-in extract"
	}
	return os.DirFS(data), data
}

// besideRepository looks for shared/data beside the working directory or
// beside one of its parents.
func besideRepository() (string, bool) {
	dir, err := os.Getwd()
	if err != nil {
		return "", false
	}
	for ; ; dir = filepath.Dir(dir) {
		data := filepath.Join(filepath.Dir(dir), "shared", "data")
		if info, err := os.Stat(filepath.Join(data, "catalogue")); err == nil && info.IsDir() {
			return data, true
		}
		if dir == filepath.Dir(dir) {
			return "", false
		}
	}
}

// editor returns the output for the Editor file.
func (f *corpusFlags) editor() outfile.Output {
	const first = "Account,Campaign,Campaign Daily Budget,Languages,Ad rotation,"
	var wide strings.Builder // as UTF-16, after its byte order mark
	for _, r := range "\ufeff" + strings.ReplaceAll(first, ",", "\t") {
		wide.Write([]byte{byte(r), byte(r >> 8)})
	}
	return outfile.Output{Flag: "--out", Path: f.out, Kind: outfile.Kind{Name: "a corpus", Is: outfile.Begins(first, "\ufeff"+first, wide.String())},
		Forcing: "--force", Force: f.force}
}

// list returns the output for a file without a recognisable beginning.
func (f *corpusFlags) list(flag, path, what string) outfile.Output {
	return outfile.Output{Flag: flag, Path: path, Kind: outfile.Kind{Name: what}, Forcing: "--force", Force: f.force}
}
