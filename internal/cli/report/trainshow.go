package report

import (
	"fmt"
	"strings"

	"adshard/internal/cli/cmdline"
	"adshard/internal/cli/terminal"
	"adshard/quality/train"
)

// trainedJSON is the output of --json.
type trainedJSON struct {
	Out         string            `json:"out"` // "" if nothing was written
	Model       string            `json:"model"`
	Features    []string          `json:"features"`
	Weights     int               `json:"weights"`
	Trained     amountJSON        `json:"trained"`
	Held        amountJSON        `json:"held_out"`
	Unknown     int               `json:"unknown"`
	Refused     int               `json:"refused"`
	Before      float64           `json:"log_loss_before"`
	After       float64           `json:"log_loss_after"`
	Gain        float64           `json:"gain"`
	Deviation   float64           `json:"gain_error"`
	MeanFactor  float64           `json:"mean_factor_permille"`
	Examination []float64         `json:"examination"`
	Calibration []calibrationJSON `json:"calibration"`
}

type amountJSON struct {
	Impressions uint64 `json:"impressions"`
	Clicks      uint64 `json:"clicks"`
	Keywords    int    `json:"keywords"`
}

type calibrationJSON struct {
	Factor      float64 `json:"factor_permille"`
	Impressions float64 `json:"impressions"`
	Before      float64 `json:"expected_before"`
	After       float64 `json:"expected_after"`
	Clicks      float64 `json:"clicks"`
}

// show shows what was trained, and how good it is.
func (f *trainFlags) show(r *train.Result, written bool, s cmdline.Streams) error {
	if !written {
		f.out = ""
	}
	if f.json {
		out := trainedJSON{
			Out: f.out, Model: r.ID, Features: r.Features, Weights: r.Weights, Trained: amountJSON(r.Trained), Held: amountJSON(r.Held), Unknown: r.Unknown,
			Refused: len(r.Refused), Before: r.Before, After: r.After, Gain: r.Gain, Deviation: r.Deviation, MeanFactor: r.MeanFactor,
			Examination: r.Examination[:shownPositions],
		}
		for _, p := range r.Calibration {
			out.Calibration = append(out.Calibration, calibrationJSON(p))
		}
		return cmdline.PrintJSON(s, out)
	}
	fmt.Fprintf(s.Out, "trained on %s, held out %s; %d keywords were counted that the database does not have\n", amount(r.Trained), amount(r.Held), r.Unknown)
	var looked []string
	for _, e := range r.Examination[:shownPositions] {
		looked = append(looked, decimal(e, 3))
	}
	fmt.Fprintf(s.Out, "%s of %s; mean factor %.0f; positions 1 to %d are looked at %s\n", terminal.Many(uint64(r.Weights), "weight"), strings.Join(r.Features, ", "),
		r.MeanFactor, shownPositions, strings.Join(looked, ", "))
	fmt.Fprintf(s.Out, "log loss of an impression held out: %.6f without the model, %.6f with it; better by %.1f in all, with a standard error of %.1f\n",
		r.Before, r.After, r.Gain, r.Deviation)
	t := terminal.NewTable(s.Out, "CALIBRATION", "IMPRESSIONS", "BY QUALITY", "WITH MODEL", "CLICKS")
	for _, p := range r.Calibration {
		t.Row("factor "+decimal(p.Factor, 0), decimal(p.Impressions, 0), decimal(p.Before, 0), decimal(p.After, 0), decimal(p.Clicks, 0))
	}
	err := t.Flush()
	if f.out != "" {
		_, err = fmt.Fprintf(s.Out, "%s: model %s; use it with \"adshard up --scorer %s\", or \"scorer: %s\" in the configuration of masters and slaves\n",
			f.out, r.ID, f.out, f.out)
	}
	return err
}

func amount(a train.Amount) string {
	return fmt.Sprintf("%s and %s of %s", terminal.Many(a.Impressions, "impression"), terminal.Many(a.Clicks, "click"), terminal.Many(uint64(a.Keywords), "keyword"))
}
