package ingest

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"

	"adshard/backend"
	"adshard/fault"
	"adshard/ingest/rejected"
	"adshard/ingest/textfile"
	"adshard/ingest/values"
	"adshard/search"
	"adshard/targeting"
)

// WriteEditorFile reads the JSON lines of an export, in which an owner comes before what it holds. It writes a Google
// Ads Editor file from which Run imports the same data: UTF-8 with a byte order mark, commas between cells. It
// returns the number of rows below the header.
//
// Errors: fault.Invalid for a line that Run would reject, and for what no row can express: an advertiser that is
// paused or has no campaign, a text that is "[]" or has a CR before an LF. Errors of lines and to are returned as
// they are.
func WriteEditorFile(to io.Writer, lines io.Reader) (rows uint64, err error) {
	src, err := newJSONSource(lines, "", "")
	if err != nil {
		return 0, err
	}
	w := editorWriter{to: to}
	w.csv = csv.NewWriter(&w.line)
	w.line.Write(textfile.BOM)
	for c := range w.row {
		w.row[c] = column(c).String()
	}
	for err = w.flush(); err == nil; {
		var e entry
		switch end := src.next(&e); end {
		case nil:
			if e.kind != kindBlocklist { // lists belong to pages, not to accounts
				err = w.write(&e)
			}
		case io.EOF:
			return w.rows, w.leave()
		default:
			err = end
		}
	}
	return w.rows, err
}

// editorWriter writes entries as rows.
type editorWriter struct {
	to   io.Writer
	csv  *csv.Writer  // writes to line
	line bytes.Buffer // the row as bytes
	row  [writtenColumns]string
	rows uint64
	err  error // the first thing that the row cannot express

	advertiser string                  // the last one
	settings   backend.AdvertiserPatch // the advertiser's settings, for the rows of its campaigns
	barren     bool                    // the advertiser has had no row
}

// write writes the row of an entry. An advertiser has no row of its own.
func (w *editorWriter) write(e *entry) error {
	if r := e.reject; r != nil {
		return fault.Newf(fault.Invalid, "", "line %d of the export: %s: %s", r.Record, cmp.Or(r.Column, "the line"), r.Reason)
	}
	w.row, w.err = [writtenColumns]string{}, nil
	w.text(colAccount, e.advertiser)
	w.text(colCampaign, e.campaign)
	if w.err == nil && accountLevel(e.campaign) {
		w.err = cannotSay("%s is a campaign: in angle brackets it stands for the account", w.place())
	}
	w.text(colAdGroup, e.group)
	switch e.kind {
	case kindAdvertiser:
		return w.enter(e)
	case kindCampaign:
		w.first()
		w.campaignSettings(&e.campaignPatch)
		w.unsaid("audiences", e.campaignPatch.Audiences)
		w.unsaid("sites", e.campaignPatch.Sites)
		w.unsaid("categories", e.campaignPatch.Categories)
		w.row[colCampaignStatus] = pausedCell(e, e.campaignPatch.Status)
	case kindGroup:
		w.groupSettings(&e.groupPatch)
		w.unsaid("audiences", e.groupPatch.Audiences)
		w.unsaid("sites", e.groupPatch.Sites)
		w.row[colAdGroupStatus] = pausedCell(e, e.groupPatch.Status)
	case kindKeyword:
		w.criterion(e.keyword.Text, "", e.keyword.Type, e.keyword.Status)
		w.keywordSettings(&e.keyword)
	case kindGroupNegative:
		w.criterion(e.negative.Text, "Negative ", e.negative.Type, e.negative.Status)
	case kindCampaignNegative:
		w.criterion(e.negative.Text, "Campaign Negative ", e.negative.Type, e.negative.Status)
	case kindAdvertiserNegative:
		w.row[colCampaign] = accountLevelName
		w.first()
		w.criterion(e.negative.Text, "Negative ", e.negative.Type, e.negative.Status)
	case kindAd:
		w.ad(&e.ad)
	}
	if w.err != nil {
		return w.err
	}
	w.rows++
	if err := w.flush(); err != nil || e.kind != kindCampaign {
		return err
	}
	return w.locations(e)
}

// locations writes a row for each location of a campaign.
func (w *editorWriter) locations(e *entry) error {
	if e.campaignPatch.Locations.Op != backend.Set {
		return nil
	}
	list, err := targeting.ParseLocations([]byte(e.campaignPatch.Locations.Value))
	if err != nil {
		return err
	}
	for _, l := range list {
		w.row = [writtenColumns]string{colAccount: e.advertiser, colCampaign: e.campaign}
		if l.Place != 0 {
			w.row[colPlaceID] = strconv.FormatUint(uint64(l.Place), 10)
		} else {
			w.row[colLocation] = values.FormatDegrees(l.Circle.Lat) + "," + values.FormatDegrees(l.Circle.Lon)
			w.row[colRadius], w.row[colUnit] = strconv.FormatFloat(float64(l.Circle.Radius)/1000, 'f', -1, 64), "km"
		}
		switch {
		case l.Exclude:
			w.row[colCriterionType] = "Campaign Negative"
		case l.Modifier != targeting.Default:
			w.row[colLocationModifier] = values.FormatPercent(l.Modifier)
		}
		w.rows++
		if err := w.flush(); err != nil {
			return err
		}
	}
	return nil
}

// unsaid sets an error if the patch sets a value that no cell can express.
func (w *editorWriter) unsaid(what string, p backend.Patch[string]) {
	if p.Op == backend.Set && w.err == nil {
		w.err = cannotSay("%s has %s: there is no column for them", w.place(), what)
	}
}

// enter starts a new advertiser.
func (w *editorWriter) enter(e *entry) error {
	if w.err != nil {
		return w.err
	}
	if err := w.leave(); err != nil {
		return err
	}
	if s := e.advertiserPatch.Status; s != backend.Keep && s != backend.Enable {
		return cannotSay("advertiser %s is %s: there is no column for it", rejected.Quote(e.advertiser), strings.ToLower(statusCells[s]))
	}
	if w.unsaid("categories", e.advertiserPatch.Categories); w.err != nil {
		return w.err
	}
	w.advertiser, w.barren = e.advertiser, true
	w.settings = e.advertiserPatch
	return nil
}

// leave ends the previous advertiser. It returns an error if that advertiser has had no row.
func (w *editorWriter) leave() error {
	if w.barren {
		return cannotSay("advertiser %s has no campaign and no negative: each row is of one", rejected.Quote(w.advertiser))
	}
	return nil
}

// first fills in the advertiser's cells, since the row may be the advertiser's first.
func (w *editorWriter) first() {
	if w.row[colAccount] == w.advertiser {
		w.advertiserSettings(&w.settings)
		w.barren = false
	}
}

// criterion fills the cells of a keyword or negative. If its text has quotes or brackets around it, criterion adds
// quotes, since the text's own would be read as a match type.
func (w *editorWriter) criterion(text, prefix string, t search.MatchType, status backend.Status) {
	if inner, _ := values.Unwrap(text); inner != text {
		text = `"` + text + `"`
	}
	w.text(colKeyword, text)
	name := t.String()
	w.row[colCriterionType] = prefix + strings.ToUpper(name[:1]) + name[1:]
	w.row[colStatus] = statusCells[status]
}

func (w *editorWriter) ad(p *backend.AdPatch) {
	w.row[colAdType] = "Responsive search ad"
	for i, text := range p.Headlines {
		w.text(colHeadline1+column(i), text)
	}
	for i, text := range p.Descriptions {
		w.text(colDescription1+column(i), text)
	}
	w.text(colPath1, p.Path1)
	w.text(colPath2, p.Path2)
	w.text(colFinalURL, p.FinalURL)
	w.row[colStatus] = statusCells[p.Status]
}

// text fills a cell that has no default to restore. It sets an error if the cell cannot express the text.
func (w *editorWriter) text(c column, text string) {
	w.row[c] = text
	switch {
	case w.err != nil:
	case text == "[]":
		w.err = cannotSay("%s of %s is []: such a cell restores a default", c, w.place())
	case strings.Contains(text, "\r\n"):
		w.err = cannotSay("%s of %s has a line break of CR and LF: a cell keeps only the LF (found %s)", c, w.place(), rejected.Quote(text))
	}
}

// place returns the names of the row's owners.
func (w *editorWriter) place() string {
	var names []string
	for _, name := range w.row[colAccount : colAdGroup+1] {
		if name != "" {
			names = append(names, rejected.Quote(name))
		}
	}
	return strings.Join(names, " / ")
}

// flush writes the row.
func (w *editorWriter) flush() error {
	if err := w.csv.Write(w.row[:]); err != nil {
		return err
	}
	w.csv.Flush()
	_, err := w.line.WriteTo(w.to)
	return err
}

func cannotSay(format string, args ...any) error {
	return fault.Newf(fault.Invalid, "", "a file for Google Ads Editor cannot say that %s; JSON lines can", fmt.Sprintf(format, args...))
}

// statusCells is indexed by status and holds the texts of status cells.
var statusCells = [...]string{backend.Enable: "Enabled", backend.Pause: "Paused", backend.Remove: "Removed"}

// cellOf returns the cell that patch reads as p.
func cellOf[T comparable](p backend.Patch[T], format func(T) string) string {
	switch p.Op {
	case backend.Set:
		return format(p.Value)
	case backend.Reset:
		return "[]"
	}
	return ""
}
