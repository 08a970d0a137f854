package cli

import (
	"fmt"
	"strconv"
	"strings"

	"adshard/internal/node/httpapi/api"
)

func showExplanation(s Streams, a *api.ExplainAnswer) error {
	fmt.Fprintf(s.Out, "%d keywords match; %d places, %s; ", a.Total, a.Slots, a.Device)
	showCoverage(s, &a.Coverage, a.TookUs)
	if len(a.Matches) == 0 {
		return nil
	}
	t := newTable(s.Out, "ID", "KEYWORD", "ADVERTISER", "CAMPAIGN / GROUP", "MATCH", "SCORE", "FATE", "WHY", "WORDS", "WHERE")
	for i := range a.Matches {
		k := &a.Matches[i]
		t.row(strconv.FormatUint(k.KeywordID, 10), cut(k.Keyword, 30), cut(k.Advertiser, 20),
			cut(k.Campaign, 20)+" / "+cut(k.Group, 20), fmt.Sprintf("%s/%s", k.MatchType, k.Variant),
			strconv.FormatUint(k.Score, 10), string(k.Verdict), k.Reason, agreements(k.Words),
			fmt.Sprintf("%s, slice %d", k.Shard, k.Slice))
	}
	if err := t.flush(); err != nil {
		return err
	}
	if shown := uint64(a.Offset + len(a.Matches)); shown < a.Total {
		fmt.Fprintf(s.Out, "%d more; --offset %d shows them\n", a.Total-shown, shown)
	}
	return nil
}

// agreements tells of each word how it agrees, e.g. "usb, kabel~kábel
// (folded)".
func agreements(words []api.WordAgreement) string {
	said := make([]string, len(words))
	for i, w := range words {
		said[i] = w.Keyword
		if w.Agreement != api.VariantIdentical {
			said[i] = fmt.Sprintf("%s~%s (%s)", w.Keyword, w.Query, w.Agreement)
		}
	}
	return strings.Join(said, ", ")
}
