package report

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/quality"
	"adshard/quality/countfile"
	"adshard/quality/revise"
)

// qualityShower shows what was learned, and what was left out.
type qualityShower struct {
	s    cmdline.Streams
	f    *qualityFlags
	plan *revise.Plan
	sum  *countfile.Summary
	// refused has the entries with more clicks than impressions.
	refused []quality.Excess
}

func (w *qualityShower) all(r revise.Result) error {
	if w.f.dryRun {
		for i := range w.plan.Changes {
			if err := w.change(&w.plan.Changes[i]); err != nil {
				return err
			}
		}
	}
	for _, id := range w.f.explain {
		if err := w.explain(uint64(id)); err != nil {
			return err
		}
	}
	if err := w.summary(r); err != nil {
		return err
	}
	w.rejects()
	return nil
}

// rejects shows rows and counts that were left out.
func (w *qualityShower) rejects() {
	for _, r := range w.sum.First {
		fmt.Fprintf(w.s.Err, "rejected: %s\n", terminal.Printable(r.String()))
	}
	if more := w.sum.Rejected - int64(len(w.sum.First)); more > 0 {
		fmt.Fprintf(w.s.Err, "and %d more\n", more)
	}
	for _, x := range w.refused[:min(len(w.refused), countfile.FirstRejects)] {
		fmt.Fprintf(w.s.Err, "refused: ad %d of keyword %d in position %d (campaign %d, group %d): %s of %s: more clicks than impressions\n",
			x.Ad, x.Keyword, x.Position, x.Campaign, x.Group, terminal.Many(x.Clicks, "click"), terminal.Many(x.Impressions, "impression"))
	}
	if more := len(w.refused) - countfile.FirstRejects; more > 0 {
		fmt.Fprintf(w.s.Err, "and %d more with more clicks than impressions: are the columns mistaken for each other, or impressions lost?\n", more)
	}
}

// changeJSON is a change in the output of --dry-run.
type changeJSON struct {
	Keyword    uint64 `json:"keyword_id"`
	Advertiser string `json:"advertiser"`
	Campaign   string `json:"campaign"`
	Group      string `json:"group"`
	Text       string `json:"keyword"`
	MatchType  string `json:"match_type"`
	From       uint8  `json:"from"`
	To         uint8  `json:"to"`
	// Rate is the click rate at the top. Bound is the rate from which the quality follows.
	Rate  float64 `json:"rate"`
	Bound float64 `json:"bound"`
	Level string  `json:"level"`
}

func (w *qualityShower) change(c *revise.Change) error {
	e := &c.Estimate
	if w.f.json {
		return w.json("change", changeJSON{
			Keyword: c.Key.Keyword, Advertiser: c.Advertiser, Campaign: c.Campaign, Group: c.Group, Text: c.Keyword.Text,
			MatchType: c.Keyword.Type.String(), From: c.Keyword.Served(), To: c.To, Rate: e.Rate, Bound: e.Bound, Level: e.Level.String(),
		})
	}
	last := e.Steps[len(e.Steps)-1]
	_, err := fmt.Fprintf(w.s.Out, "keyword %d %q %v of %q / %q / %q: quality %d -> %d; rate %.4f ± %.4f from the %v, %.1f clicks\n",
		c.Key.Keyword, c.Keyword.Text, c.Keyword.Type, c.Advertiser, c.Campaign, c.Group, c.Keyword.Served(), c.To, e.Rate, last.Deviation, e.Level, e.Steps[e.Level].Clicks)
	return err
}

func (w *qualityShower) json(name string, value any) error {
	e := json.NewEncoder(w.s.Out)
	e.SetEscapeHTML(false)
	return e.Encode(map[string]any{name: value})
}

// stepJSON is a level in the output of --explain.
type stepJSON struct {
	Level       string  `json:"level"`
	Impressions float64 `json:"impressions"`
	Clicks      float64 `json:"clicks"`
	Examined    float64 `json:"examined"`
	Own         float64 `json:"own"`
	Strength    float64 `json:"strength"`
	Rate        float64 `json:"rate"`
	Deviation   float64 `json:"deviation"`
}

// explain shows how the rate of a keyword was computed.
func (w *qualityShower) explain(id uint64) error {
	key, err := toExplain(w.plan, id)
	if err != nil {
		return err
	}
	e := w.plan.Model.Estimate(key)
	points := w.plan.Scale.Points(e.Bound)
	if w.f.json {
		steps := make([]stepJSON, len(e.Steps))
		for i, s := range e.Steps {
			steps[i] = stepJSON{s.Level.String(), s.Impressions, s.Clicks, s.Examined, s.Own, s.Strength, s.Rate, s.Deviation}
		}
		return w.json("explanation", map[string]any{"keyword_id": id, "rate": e.Rate, "bound": e.Bound, "points": points, "steps": steps})
	}
	fmt.Fprintf(w.s.Out, "keyword %d: rate %.4f, with the bound %.4f: %.2f points\n", id, e.Rate, e.Bound, points)
	t := terminal.NewTable(w.s.Out, "LEVEL", "IMPRESSIONS", "CLICKS", "EXAMINED", "OWN PART", "STRENGTH", "RATE", "DEVIATION")
	for _, s := range e.Steps {
		t.Row(s.Level.String(), decimal(s.Impressions, 1), decimal(s.Clicks, 1), decimal(s.Examined, 1),
			decimal(100*s.Own, 1)+" %", decimal(s.Strength, 1), decimal(s.Rate, 4), decimal(s.Deviation, 4))
	}
	return t.Flush()
}

// toExplain returns the key of a keyword that --explain names, or an error if the plan does not have the keyword.
func toExplain(p *revise.Plan, id uint64) (quality.Key, error) {
	key, ok := p.Find(id)
	if !ok {
		return key, fmt.Errorf("--explain %d: no keyword of this id is in a group that the files name", id)
	}
	return key, nil
}

func decimal(v float64, digits int) string { return strconv.FormatFloat(v, 'f', digits, 64) }

// qualitySummary is the last line of output with --json.
type qualitySummary struct {
	DryRun      bool               `json:"dry_run"`
	Rows        int64              `json:"rows"`
	Rejected    int64              `json:"rejected"`
	Refused     int                `json:"refused"` // ads in positions with more clicks than impressions
	Changed     int                `json:"changed"`
	Left        int                `json:"left"`
	Unknown     int                `json:"unknown"`
	Gone        int                `json:"gone"`
	Scale       float64            `json:"scale"`
	Examination []float64          `json:"examination"`
	Strengths   map[string]float64 `json:"strengths"`
}

// shownPositions is the number of positions that a summary lists.
const shownPositions = 4

func (w *qualityShower) summary(r revise.Result) error {
	out := qualitySummary{DryRun: w.f.dryRun, Rows: w.sum.Rows, Rejected: w.sum.Rejected, Refused: len(w.refused), Changed: r.Written, Left: w.plan.Left,
		Unknown: w.plan.Unknown, Gone: r.Gone, Scale: float64(w.plan.Scale), Strengths: make(map[string]float64)}
	if w.f.dryRun {
		out.Changed = len(w.plan.Changes)
	}
	var looked, strengths []string
	for p := 1; p <= shownPositions; p++ {
		out.Examination = append(out.Examination, w.plan.Model.Examination(p))
		looked = append(looked, decimal(w.plan.Model.Examination(p), 3))
	}
	for l := quality.LevelCampaign; l < quality.Levels; l++ {
		out.Strengths[l.String()] = w.plan.Model.Strength(l)
		strengths = append(strengths, l.String()+" "+decimal(w.plan.Model.Strength(l), 1))
	}
	if w.f.json {
		return w.json("summary", out)
	}
	if w.f.dryRun {
		fmt.Fprint(w.s.Out, "dry run, the database is unchanged: ")
	}
	fmt.Fprintf(w.s.Out, "%s, %d rejected; %d qualities change, %d stay; %d keywords were counted that the database does not have\n",
		terminal.Many(uint64(out.Rows), "row"), out.Rejected, out.Changed, out.Left, out.Unknown)
	if out.Gone > 0 {
		fmt.Fprintf(w.s.Out, "%s removed meanwhile\n", terminal.Many(uint64(out.Gone), "keyword"))
	}
	_, err := fmt.Fprintf(w.s.Out, "positions 1 to %d are looked at %s; a level above is worth, in clicks: %s; --scale %s\n",
		shownPositions, strings.Join(looked, ", "), strings.Join(strengths, ", "), strconv.FormatFloat(out.Scale, 'g', 6, 64))
	return err
}
