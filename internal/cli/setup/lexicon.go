package setup

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"adshard/internal/cli/cmdline"
	"adshard/internal/outfile"
	"adshard/search/words"
	"adshard/search/words/lexicon"
)

// LexiconCommand returns the command that builds the file of synonyms.
func LexiconCommand(s cmdline.Streams) *cobra.Command {
	c := cmdline.Group(&cobra.Command{
		Use:   "lexicon",
		Short: "Build the file of synonyms",
		Long:  `Builds the file of synonyms that masters read. Without one there are no synonyms.`,
	})
	c.AddCommand(lexiconBuildCommand(s))
	return c
}

func lexiconBuildCommand(s cmdline.Streams) *cobra.Command {
	var out string
	var thesauri []string
	var languages words.Languages
	var o cmdline.Outcome
	c := &cobra.Command{
		Use:   "build --out FILE",
		Short: "Build a lexicon file from thesauri",
		Long: `Builds a lexicon file from thesauri in the MyThes format: by default those of
Debian's packages mythes-cs and mythes-en-us; mythes-da, mythes-de and mythes-sv
are read for --languages da,de,sv. The pairs of single words in them become
synonyms, in both directions. Norwegian's is one of associations, and is only
read if it is named.`,
		Example: `  apt-get install mythes-cs mythes-de mythes-en-us
  adshard lexicon build --out lexicon.txt --languages cs,de,en
  adshard lexicon build --out lexicon.txt --thesaurus en=my_en.dat
  adshard up --db sqlite:ads.db --lexicon lexicon.txt`,
		Args: cmdline.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if out == "" {
				return cmdline.WrongUse("--out is missing: name the file to write")
			}
			files, err := thesaurusFiles(c.Flags().Changed("languages"), languages, thesauri)
			if err != nil {
				return err
			}
			if err := cmdline.Refused(outfile.Check(outfile.Inputs(pathsOf(files)...), lexicon.Output(out))); err != nil {
				return err
			}
			counts, err := lexicon.BuildFile(c.Context(), out, files...)
			if err != nil {
				return err
			}
			return o.Print(s, lexiconOf(out, counts), func() error {
				for _, n := range counts {
					fmt.Fprintf(s.Out, "%s: %d words, %d pairs\n", n.Language, n.Words, n.Pairs)
				}
				return nil
			})
		},
	}
	c.Flags().StringVar(&out, "out", "", "the file to write")
	o.Flag(c)
	c.Flags().StringArrayVar(&thesauri, "thesaurus", nil, "a thesaurus as LANGUAGE=FILE, several times; without it Debian's are read")
	c.Flags().TextVar(&languages, "languages", words.Default, "read Debian's thesauri of these `languages`")
	return c
}

type lexiconJSON struct {
	Out       string              `json:"out"`
	Languages []lexiconCountsJSON `json:"languages"`
}

type lexiconCountsJSON struct {
	Language string `json:"language"`
	Words    int    `json:"words"`
	Pairs    int    `json:"pairs"`
}

func lexiconOf(out string, counts []lexicon.Count) lexiconJSON {
	v := lexiconJSON{Out: out, Languages: []lexiconCountsJSON{}}
	for _, n := range counts {
		v.Languages = append(v.Languages, lexiconCountsJSON{n.Language, n.Words, n.Pairs})
	}
	return v
}

// thesaurusFiles returns the files that are named, or Debian's.
func thesaurusFiles(chosen bool, languages words.Languages, given []string) ([]lexicon.File, error) {
	if len(given) == 0 {
		return lexicon.DebianFiles(languages)
	}
	if chosen {
		return nil, cmdline.WrongUse("--languages chooses among Debian's thesauri; leave it out beside --thesaurus")
	}
	files := make([]lexicon.File, len(given))
	for i, g := range given {
		language, path, ok := strings.Cut(g, "=")
		if !ok || language == "" || path == "" {
			return nil, cmdline.WrongUse("--thesaurus %s: write LANGUAGE=FILE, for example en=thesaurus.dat", g)
		}
		files[i] = lexicon.File{Language: language, Path: path}
	}
	return files, nil
}

func pathsOf(files []lexicon.File) (paths []string) {
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	return paths
}
