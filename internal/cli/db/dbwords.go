package db

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"adshard/backend"
	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/money"
	"adshard/internal/node/database"
)

func dbWordsCommand(s cmdline.Streams) *cobra.Command {
	var db string
	var asJSON bool
	c := &cobra.Command{
		Use:   "words --db URL",
		Short: "List keywords that a new version of words removed",
		Long: `Says of which version of words the keys of keywords and negatives are, and lists what was
removed when a program of a newer one made them anew. The first program of a new version
that opens the database does that, this command too. Keywords of one ad group and match type that have the same words
since are one: that with the lowest id stays, and the others are removed and listed here. So is
what is no longer a keyword, such as one without a word. Of negatives, the one that stays is
enabled if any of them was.`,
		Example: `  adshard db words --db sqlite:ads.db
  adshard db words --db sqlite:ads.db --json | jq '.removed[]'`,
		Args: cmdline.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error { return runDBWords(c.Context(), db, asJSON, s) },
	}
	c.Flags().StringVar(&db, "db", "", cmdline.DatabaseHelp)
	c.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return c
}

func runDBWords(ctx context.Context, url string, asJSON bool, s cmdline.Streams) (err error) {
	if err := cmdline.CheckDatabase(url); err != nil {
		return err
	}
	store, err := database.OpenTelling(ctx, url, s.Warn)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	worded, ok := store.(backend.Worded)
	if !ok {
		return cmdline.WrongUse("--db %s: a database of this kind names no version of words", url)
	}
	report, err := worded.Words(ctx)
	if err != nil {
		return err
	}
	if asJSON {
		return cmdline.PrintJSON(s, wordsJSON(report))
	}
	return showWords(s.Out, report)
}

// removedJSON is a backend.RemovedPhrase with its match type by name.
type removedJSON struct {
	backend.RemovedPhrase
	Type string `json:"match_type"`
}

func wordsJSON(r *backend.WordsReport) any {
	out := struct {
		Version string        `json:"version"`
		Removed []removedJSON `json:"removed"`
	}{r.Version, []removedJSON{}}
	for _, p := range r.Removed {
		out.Removed = append(out.Removed, removedJSON{p, p.Type.String()})
	}
	return out
}

func showWords(w io.Writer, r *backend.WordsReport) error {
	for i := range r.Removed {
		fmt.Fprintln(w, removedLine(&r.Removed[i]))
	}
	_, err := fmt.Fprintf(w, "keys of words %s; removed: %d\n", r.Version, len(r.Removed))
	return err
}

// removedLine returns what was removed, with everything needed to add it again, as text.
func removedLine(p *backend.RemovedPhrase) string {
	kind, owner := "keyword", fmt.Sprint("ad group ", p.Group)
	if p.Negative {
		kind = "negative"
	}
	if p.Campaign != 0 {
		owner = fmt.Sprint("campaign ", p.Campaign)
	}
	if p.Advertiser != 0 {
		owner = fmt.Sprint("advertiser ", p.Advertiser)
	}
	line := fmt.Sprintf("%s %d of %s, %s %s", kind, p.ID, owner, p.Type, terminal.Printable(fmt.Sprintf("%q", p.Text)))
	if !p.Enabled {
		line += ", paused"
	}
	if p.HasBid {
		line += ", bid " + money.Format(p.Bid)
	}
	if p.Kept != 0 {
		return line + fmt.Sprintf(": one with %s %d now", kind, p.Kept)
	}
	return line + ": " + p.Why
}
