package cluster

import (
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/internal/node/httpapi/api"
	"adshard/targeting"
)

// showExplanation shows a line per word of the query, and two lines per keyword: its result, and what determined it. --json has the rest. `named` says
// that the keywords were requested by name.
func showExplanation(s cmdline.Streams, a *api.ExplainAnswer, named bool) error {
	found := fmt.Sprintf("%d keywords match", a.Total)
	if named {
		found = fmt.Sprintf("keywords of this name or number: %d", a.Total)
	}
	if a.Placement != "" {
		found = terminal.Printable(a.Placement) + ": " + found
	}
	fmt.Fprintf(s.Out, "%s; %d places, %s; ", found, a.Slots, a.Device)
	showCoverage(s, &a.Coverage, a.TookUs)
	if named && a.Total == 0 && a.Coverage.Complete {
		fmt.Fprintln(s.Out, "There is no such keyword or advertiser with keywords.")
	}
	if err := showWords(s, a.QueryWords); err != nil || len(a.Matches) == 0 {
		return err
	}
	t := terminal.NewTable(s.Out, "ID", "KEYWORD", "ADVERTISER", "MATCH", "FATE")
	for i := range a.Matches {
		k := &a.Matches[i]
		t.Row(strconv.FormatUint(k.KeywordID, 10), terminal.Cut(k.Keyword, 30), terminal.Cut(k.Advertiser, 20),
			fmt.Sprintf("%s/%s", k.MatchType, cmp.Or(k.Variant, "-")), k.Reason)
		t.Comment(fmt.Sprintf("%s / %s; score %d; words %s%s; %s, slice %d",
			terminal.Cut(k.Campaign, 20), terminal.Cut(k.Group, 30), k.Score, agreements(k.Words), multiplied(k), k.Shard, k.Slice))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if shown := uint64(a.Offset + len(a.Matches)); shown < a.Total {
		fmt.Fprintf(s.Out, "%d more; --offset %d shows them\n", a.Total-shown, shown)
	}
	return nil
}

// mostSynonyms bounds the synonyms of a word that are shown.
const mostSynonyms = 5

// showWords shows what each word of the query is compared as.
func showWords(s cmdline.Streams, list []api.QueryWord) error {
	if len(list) == 0 {
		return nil
	}
	t := terminal.NewTable(s.Out, "WORD", "FOLDED", "STEMS")
	for _, w := range list {
		stems := make([]string, len(w.Stems))
		for i, stem := range w.Stems {
			stems[i] = stem.Language + " " + stem.Stem
			if n := len(stem.Synonyms); n > mostSynonyms {
				stems[i] += fmt.Sprintf(" ~ %s and %d more", strings.Join(stem.Synonyms[:mostSynonyms], ", "), n-mostSynonyms)
			} else if n > 0 {
				stems[i] += " ~ " + strings.Join(stem.Synonyms, ", ")
			}
		}
		t.Row(terminal.Cut(w.Word, 30), terminal.Cut(w.Folded, 30), strings.Join(stems, "; "))
		if len(w.Corrections) > 0 {
			t.Comment("misspelt? " + strings.Join(w.Corrections, ", "))
		}
	}
	return t.Flush()
}

// multiplied returns what the bid was multiplied by, e.g. "; bid × 1500 ‰ (device) × 9000 ‰ (location), at most × 10000 ‰", or "" if
// nothing changed it.
func multiplied(k *api.ExplainedKeyword) string {
	if len(k.Factors) == 0 {
		return ""
	}
	text := "; bid"
	for _, f := range k.Factors {
		text += fmt.Sprintf(" × %d ‰ (%s)", f.Permille, f.Dimension)
	}
	if k.Clamped {
		text += fmt.Sprintf(", at most × %d ‰", targeting.MaxModifier)
	}
	return text
}

// agreements returns how each word agrees, e.g. "usb, kabel~kábel (folded)".
func agreements(words []api.WordAgreement) string {
	said := make([]string, len(words))
	for i, w := range words {
		switch said[i] = w.Keyword; w.Agreement {
		case api.VariantIdentical:
		case "":
			said[i] += " (missing)"
		default:
			said[i] = fmt.Sprintf("%s~%s (%s)", w.Keyword, w.Query, w.Agreement)
		}
	}
	return strings.Join(said, ", ")
}
