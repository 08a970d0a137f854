package ingest_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"adshard/ingest"
	"adshard/ingest/rejected"
)

// importText imports files from standard input, one after the other, and returns all entities, and the rejects as
// row, column and reason.
func importText(t *testing.T, o ingest.Options, files ...string) (dump, rejects string) {
	t.Helper()
	var out bytes.Buffer
	o.Rejects = &out
	store := newFakeStore()
	for _, text := range files {
		o.Stdin = strings.NewReader(text)
		sum, err := ingest.Run(context.Background(), store, []string{"-"}, o)
		if err != nil {
			t.Fatal(err)
		}
		if sum.Rejected != int64(len(sum.First)) && sum.Rejected < rejected.Listed {
			t.Errorf("%d rejects, %d kept", sum.Rejected, len(sum.First))
		}
	}
	return store.dump(), strings.ReplaceAll(strings.ReplaceAll(out.String(), "-\t", ""), "\t", " ")
}

const allColumns = "Account,Campaign,Ad Group,Keyword,Criterion Type,Max CPC,Quality score,Desktop Bid Modifier," +
	"Mobile Bid Modifier,Tablet Bid Modifier,Campaign Daily Budget,Languages,Ad rotation,Ad type,Headline 1,Headline 2," +
	"Description 1,Path 1,Path 2,Final URL,Campaign Status,Ad Group Status,Status\n"

// row builds a row of allColumns from "Column=value" pairs.
func row(pairs ...string) string {
	names := strings.Split(strings.TrimSpace(allColumns), ",")
	cells := make([]string, len(names))
	for _, pair := range pairs {
		name, value, _ := strings.Cut(pair, "=")
		found := false
		for i, n := range names {
			if n == name {
				cells[i], found = `"`+strings.ReplaceAll(value, `"`, `""`)+`"`, true
			}
		}
		if !found {
			panic("no column " + name)
		}
	}
	return strings.Join(cells, ",") + "\n"
}

// in returns a row of allColumns within account A and campaign C.
func in(pairs ...string) string {
	return row(append([]string{"Account=A", "Campaign=C"}, pairs...)...)
}

func TestEditorClauses(t *testing.T) {
	const acc, camp, grp = "A = status=enabled\n", "A / C = status=enabled\n", "A / C / G = status=enabled\n"
	for _, c := range []struct{ name, rows, want, rejects string }{
		{"campaign row", in("Campaign Daily Budget=12.5", "Languages=Czech;en", "Ad rotation=Rotate evenly", "Mobile Bid Modifier=-20.5"),
			acc + "A / C = budget=12500000 even=true lang=cs,en mod1=795 status=enabled\n", ""},
		{"group row", in("Ad Group=G", "Max CPC=0", "Tablet Bid Modifier=0"), acc + camp + "A / C / G = bid=0 mod2=1000 status=enabled\n", ""},
		{"keyword row", in("Ad Group=G", "Keyword=Red Shoes", "Criterion Type=exact", "Max CPC=1.5", "Quality score=7"),
			acc + camp + grp + "A / C / G / exact red shoes = bid=1500000 quality=7 status=enabled text=Red_Shoes\n", ""},
		{"type by quotes", in("Ad Group=G", `Keyword=" a "`) + in("Ad Group=G", "Keyword=[b]") + in("Ad Group=G", "Keyword=c"),
			acc + camp + grp + "A / C / G / broad c = status=enabled text=c\nA / C / G / exact b = status=enabled text=b\n" +
				"A / C / G / phrase a = status=enabled text=a\n", ""},
		{"filled type wins", in("Ad Group=G", "Keyword=[a]", "Criterion Type=Broad"),
			acc + camp + grp + "A / C / G / broad a = status=enabled text=a\n", ""},
		{"negatives without a group", in("Keyword=x", "Criterion Type=Negative", "Ad Group Status=nonsense") + in(`Keyword="y"`, "Criterion Type=campaign negative"),
			acc + camp + "A / C / -broad x = status=enabled\nA / C / -phrase y = status=enabled\n", ""},
		{"negatives", in("Ad Group=G", `Keyword="x"`, "Criterion Type=Negative Broad", "Max CPC=bad", "Quality score=99") +
			in("Keyword=y", "Criterion Type=Campaign Negative Exact", "Ad Group=ignored", "Ad Group Status=nonsense"),
			acc + camp + "A / C / -exact y = status=enabled\n" + grp + "A / C / G / -broad x = status=enabled\n", ""},
		{"ad", in("Ad Group=G", "Ad type=Responsive search ad", "Headline 1=H", "Headline 2=I", "Description 1=D", "Path 2=p", "Final URL=https://a.example/",
			"Max CPC=bad", "Mobile Bid Modifier=bad", "Quality score=bad", "Criterion Type=bad"),
			acc + camp + grp + `A / C / G / ad ["H" "I"] ["D"] "" "p" "https://a.example/" = status=enabled` + "\n", ""},
		{"a headline makes an ad", in("Ad Group=G", "Headline 2=H"), acc + camp + grp + `A / C / G / ad ["H"] [] "" "" "" = status=enabled` + "\n", ""},
		{"a description makes none", in("Ad Group=G", "Description 1=H"), acc + camp + grp, ""},
		{"a keyword row is not an ad", in("Ad Group=G", "Keyword=k", "Headline 1=[]", "Final URL=[]"),
			acc + camp + grp + "A / C / G / broad k = status=enabled text=k\n", ""},
		{"[] restores", in("Ad Group=G", "Keyword=k", "Max CPC=1", "Quality score=3", "Campaign Daily Budget=9", "Languages=en") +
			in("Ad Group=G", "Max CPC=2", "Mobile Bid Modifier=10") +
			in("Ad Group=G", "Keyword=k", "Max CPC=[]", "Quality score=[]", "Campaign Daily Budget=[]", "Languages=[]") +
			in("Ad Group=G", "Max CPC=[]", "Mobile Bid Modifier=[]"),
			acc + camp + grp + "A / C / G / broad k = status=enabled text=k\n", ""},
		{"[] elsewhere", in("Ad rotation=[]") + in("Status=[]") + in("Campaign Status=[]") + in("Ad Group=[]") + row("Account=[]", "Campaign=C") +
			row("Account=A", "Campaign=[]") + in("Ad Group=G", "Keyword=[]") + in("Ad Group=G", "Keyword=k", "Criterion Type=[]") +
			in("Ad Group=G", "Headline 1=[]") + in("Ad Group=G", "Ad type=[]") + in("Ad Group=G", "Headline 1=h", "Final URL=[]") +
			in("Ad Group=G", "Headline 1=h", "Path 1=[]") + in("Ad Group=G", "Ad Group Status=[]"), "",
			"2 Ad rotation\n3 Status\n4 Campaign Status\n5 Ad Group\n6 Account\n7 Campaign\n8 Keyword\n9 Criterion Type\n10 Headline 1\n" +
				"11 Ad type\n12 Final URL\n13 Path 1\n14 Ad Group Status\n"},
		{"own status cell first", in("Status=Paused", "Campaign Status=enabled") + in("Ad Group=G", "Status=nonsense", "Ad Group Status=PAUSED"),
			acc + camp + "A / C / G = status=paused\n", ""},
		{"status of a row's own", in("Status=paused") + in("Ad Group=G", "Status=Paused") + in("Ad Group=G", "Keyword=k", "Status=Paused"),
			acc + "A / C = status=paused\nA / C / G = status=paused\nA / C / G / broad k = status=paused text=k\n", ""},
		{"parents' status on any row", in("Ad Group=G", "Keyword=k", "Campaign Status=Paused", "Ad Group Status=Paused"),
			acc + "A / C = status=paused\nA / C / G = status=paused\nA / C / G / broad k = status=enabled text=k\n", ""},
		{"group status on a campaign row", in("Ad Group Status=nonsense"), acc + camp, ""},
		{"removed", in("Ad Group=G", "Keyword=k") + in("Ad Group=G", "Keyword=k", "Criterion Type=Exact") + in("Ad Group=G", "Keyword=K!", "Status=Removed"),
			acc + camp + grp + "A / C / G / exact k = status=enabled text=k\n", ""},
		{"removed and unknown", in("Ad Group=G", "Keyword=k", "Status=Removed") + in("Ad Group=G", "Status=Removed") + in("Status=Removed") +
			in("Ad Group=G", "Headline 1=h", "Status=Removed") + in("Keyword=n", "Criterion Type=Campaign Negative Broad", "Status=Removed") +
			in("Ad Group=G", "Keyword=n", "Criterion Type=Negative Broad", "Status=Removed"), "", ""},
		{"removed within known parents", in("Ad Group=G") + in("Ad Group=G", "Keyword=k", "Status=Removed", "Campaign Status=Paused", "Ad Group Status=Paused"),
			acc + "A / C = status=paused\nA / C / G = status=paused\n", ""},
		{"group removed on a keyword row", in("Ad Group=G", "Keyword=k") + in("Ad Group=G", "Keyword=l", "Ad Group Status=Removed"), acc + camp, ""},
		{"campaign removed on an ad row", in("Ad Group=G", "Keyword=k") + in("Ad Group=G", "Headline 1=h", "Campaign Status=Removed"), acc, ""},
		{"removed and made again", in("Ad Group=G", "Keyword=k", "Max CPC=1") + in("Ad Group=G", "Status=Removed") + in("Ad Group=G", "Keyword=k"),
			acc + camp + grp + "A / C / G / broad k = status=enabled text=k\n", ""},
		{"parents made again after a removal", in("Ad Group=G", "Keyword=k") + in("Campaign Status=Removed") + in("Ad Group=G", "Keyword=l"),
			acc + camp + grp + "A / C / G / broad l = status=enabled text=l\n", ""},
		{"a reject creates nothing", row("Account=New", "Campaign=New", "Ad Group=New", "Keyword=k", "Max CPC=10001"), "", "2 Max CPC\n"},
		{"bids", in("Ad Group=G", "Keyword=k", "Max CPC=-1") + in("Ad Group=G", "Keyword=k", "Max CPC=10001") + in("Ad Group=G", "Keyword=k", "Max CPC=much"),
			"", "2 Max CPC\n3 Max CPC\n4 Max CPC\n"},
		{"keywords", in("Ad Group=G", "Keyword=a b c d e f g h i j k") + in("Ad Group=G", "Keyword="+strings.Repeat("é", 81)) + in("Ad Group=G", "Keyword=!") +
			in("Ad Group=G", `Keyword=""`), "", "2 Keyword\n3 Keyword\n4 Keyword\n5 Keyword\n"},
		{"what is missing", row("Campaign=C") + row("Account=A") + in("Keyword=k") + in("Keyword=k", "Criterion Type=Negative Exact") + in("Headline 1=h"),
			acc + camp + "A / C / -exact k = status=enabled\n", "2 Account\n3 Campaign\n4 Ad Group\n6 Ad Group\n"},
		{"the first at fault", row("Keyword=!", "Max CPC=x", "Status=x") + in("Keyword=!", "Status=x") + in("Ad Group=G", "Keyword=!", "Criterion Type=x") +
			in("Ad Group=G", "Keyword=k", "Max CPC=x", "Campaign Daily Budget=x") + in("Campaign Daily Budget=x", "Languages=x", "Status=x") +
			in("Keyword=k", "Criterion Type=x"),
			acc + "A / C = hold=refused_row status=paused\n", "2 Account\n3 Ad Group\n4 Keyword\n5 Max CPC\n6 Campaign Daily Budget\n7 Criterion Type\n"},
		{"campaign cells on any row", in("Ad Group=G", "Keyword=k", "Campaign Daily Budget=x") + in("Ad Group=G", "Headline 1=h", "Languages=Klingon") +
			in("Ad Group=G", "Ad rotation=often"), acc + "A / C = status=paused\n", "2 Campaign Daily Budget\n3 Languages\n4 Ad rotation\n"},
		{"modifiers", in("Desktop Bid Modifier=20 %%") + in("Ad Group=G", "Mobile Bid Modifier=-101") + in("Tablet Bid Modifier=1.25"),
			"", "2 Desktop Bid Modifier\n3 Mobile Bid Modifier\n4 Tablet Bid Modifier\n"},
		{"modifiers on other rows are not read", in("Ad Group=G", "Keyword=k", "Mobile Bid Modifier=x"),
			acc + camp + grp + "A / C / G / broad k = status=enabled text=k\n", ""},
		{"a bid on a campaign row is not read", in("Max CPC=x"), acc + camp, ""},
		{"names", row("Account=\u2003A\u00a0", "Campaign=C ") + row("Account=a", "Campaign=C"),
			acc + camp + "a = status=enabled\na / C = status=enabled\n", ""},
		{"damaged text", in("Ad Group=G", "Keyword=a\xff") + in("Ad Group=\xc3") + in("Ad Group=G", "Keyword=k", "Headline 1=\xff"),
			acc + camp + grp + "A / C / G / broad k = status=enabled text=k\n", "2 Keyword\n3 Ad Group\n"},
		{"blank lines count", "\n" + in("Status=x") + "\r\n" + in("Status=x"), "", "3 Status\n5 Status\n"},
		{"a row of empty cells", row(), "", ""},
		{"short rows", "A,C,G\nA,C,G,k\n", acc + camp + grp + "A / C / G / broad k = status=enabled text=k\n", ""},
		{"a row too long", "A,C" + strings.Repeat(",", 30) + "\nA,C" + strings.Repeat(",", 25) + "x\n", acc + "A / C = hold=refused_row status=enabled\n", "3 cell 27\n"},
		{"a last row cut off", "A,C\nA,C,G,ke", acc + camp, "3 cell 4\n"},
		{"a record too long", "A,C,\"" + strings.Repeat("x", 1<<20) + "\"\n" + in(), acc + camp, "2 \n"},
		{"one change of one keyword", in("Ad Group=G", "Keyword=k", "Max CPC=1", "Quality score=2") + in("Ad Group=G", "Keyword=K", "Status=Paused") +
			in("Ad Group=G", "Keyword=k", "Max CPC=3"),
			acc + camp + grp + "A / C / G / broad k = bid=3000000 quality=2 status=paused text=k\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			dump, rejects := importText(t, ingest.Options{}, allColumns+c.rows)
			if dump != c.want {
				t.Errorf("entities:\n%swant:\n%s", dump, c.want)
			}
			if got := firstWords(rejects); got != c.rejects {
				t.Errorf("rejects:\n%swant:\n%s", rejects, c.rejects)
			}
		})
	}
}

// firstWords keeps the row and column of "row column reason" lines, where the column is one of allColumns, a cell's
// number or empty.
func firstWords(rejects string) string {
	var b strings.Builder
	for line := range strings.Lines(rejects) {
		number, rest, _ := strings.Cut(line, " ")
		column := ""
		for _, name := range append(strings.Split(strings.TrimSpace(allColumns), ","), "cell 4", "cell 27") {
			if strings.HasPrefix(rest, name+" ") && len(name) > len(column) {
				column = name
			}
		}
		b.WriteString(number + " " + column + "\n")
	}
	return b.String()
}

func TestEditorAdvertiser(t *testing.T) {
	of := ingest.Options{Advertiser: " Acme "}
	if dump, rejects := importText(t, of, "Campaign\nC\n"); dump != "Acme = status=enabled\nAcme / C = status=enabled\n" || rejects != "" {
		t.Errorf("without a column:\n%s%s", dump, rejects)
	}
	dump, rejects := importText(t, of, "Campaign,Account\nC,B\nD,\n")
	if dump != "B = status=enabled\nB / C = status=enabled\n" || firstWords(rejects) != "3 Account\n" {
		t.Errorf("with a column:\n%s%s", dump, rejects)
	}
}

func TestEditorSeveralFiles(t *testing.T) {
	dump, _ := importText(t, ingest.Options{}, "Account,Campaign\nA,C\n", "\ufeffCampaign\tAccount\r\nD\tA\r\n")
	if want := "A = status=enabled\nA / C = status=enabled\nA / D = status=enabled\n"; dump != want {
		t.Errorf("%s", dump)
	}
}
