package ingest_test

import (
	"strings"
	"testing"

	"adshard/ingest"
)

func TestJSONLines(t *testing.T) {
	const acc, camp, grp = "A = status=enabled\n", "A / C = status=enabled\n", "A / C / G = status=enabled\n"
	for _, c := range []struct{ name, lines, want, rejects string }{
		{"advertiser", `{"type":"advertiser","name":" A "}`, acc, ""},
		{"advertiser paused", `{"type":"advertiser","name":"A","status":"paused"}`, "A = status=paused\n", ""},
		{"campaign", `{"type":"campaign","advertiser":"A","name":"C","daily_budget_micros":12500000,"languages":["Czech","en"],` +
			`"ad_rotation":"even","mobile_bid_modifier":-20.5}`, acc + "A / C = budget=12500000 even=true lang=cs,en mod1=795 status=enabled\n", ""},
		{"delivery method", `{"type":"campaign","advertiser":"A","name":"C","delivery_method":" Standard "}`,
			acc + "A / C = standard=true status=enabled\n", ""},
		{"time zone", `{"type":"advertiser","name":"A","time_zone":"Europe/Prague"}` + "\n" + `{"type":"advertiser","name":"B","time_zone":"UTC"}` + "\n" +
			`{"type":"advertiser","name":"B","time_zone":null}`, "A = status=enabled zone=Europe/Prague\nB = status=enabled\n", ""},
		{"group", `{"type":"group","advertiser":"A","campaign":"C","name":"G","max_cpc_micros":0,"tablet_bid_modifier":0}`,
			acc + camp + "A / C / G = bid=0 mod2=1000 status=enabled\n", ""},
		{"keyword", `{"type":"keyword","advertiser":"A","campaign":"C","group":"G","text":"\"Red\" Shoes","match_type":"exact",` +
			`"max_cpc_micros":1500000,"quality_score":7,"status":"paused"}`,
			acc + camp + grp + "A / C / G / exact red shoes = bid=1500000 quality=7 status=paused text=\"Red\"_Shoes\n", ""},
		{"negatives", `{"type":"negative","advertiser":"A","campaign":"C","group":"G","text":"x","match_type":"broad"}` + "\n" +
			`{"type":"negative","advertiser":"A","campaign":"C","text":"y","match_type":"exact"}` + "\n" +
			`{"type":"negative","advertiser":"A","text":"z","match_type":"phrase"}`,
			acc + "A / -phrase z = status=enabled\n" + camp + "A / C / -exact y = status=enabled\n" + grp + "A / C / G / -broad x = status=enabled\n", ""},
		{"ad", `{"type":"ad","advertiser":"A","campaign":"C","group":"G","headlines":["H","","I"],"descriptions":["D"],"path_2":"p","final_url":"HTTP://u"}`,
			acc + camp + grp + `A / C / G / ad ["H" "I"] ["D"] "" "p" "HTTP://u" = status=enabled` + "\n", ""},
		{"null restores", `{"type":"campaign","advertiser":"A","name":"C","daily_budget_micros":1,"languages":["en"],"desktop_bid_modifier":5}` + "\n" +
			`{"type":"campaign","advertiser":"A","name":"C","daily_budget_micros":null,"languages":null,"desktop_bid_modifier":null}`, acc + camp, ""},
		{"removed", `{"type":"campaign","advertiser":"A","name":"C"}` + "\n" + `{"type":"campaign","advertiser":"A","name":"C","status":"removed"}` + "\n" +
			`{"type":"keyword","advertiser":"B","campaign":"C","group":"G","text":"k","match_type":"broad","status":"removed"}`, acc, ""},
		{"advertiser removed", `{"type":"campaign","advertiser":"A","name":"C"}` + "\n" + `{"type":"advertiser","name":"A","status":"removed"}` + "\n" +
			`{"type":"advertiser","name":"B","status":"removed"}`, "", ""},
		{"escapes", `{"type":"advertiser","name":"\u017dlu\u0165 \ud83d\ude00"}`, "Žluť 😀 = status=enabled\n", ""},
		{"empty lines count", "\n\r\n" + `{"type":"x"}`, "", "3 type"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dump, rejects := importText(t, ingest.Options{Format: ingest.FormatJSONL}, c.lines+"\n")
			if dump != c.want {
				t.Errorf("entities:\n%swant:\n%s", dump, c.want)
			}
			if !strings.HasPrefix(rejects, c.rejects) || (c.rejects == "") != (rejects == "") {
				t.Errorf("rejects:\n%swant:\n%s", rejects, c.rejects)
			}
		})
	}
}

func TestJSONLinesRejects(t *testing.T) {
	keyword := func(more string) string {
		return `{"type":"keyword","advertiser":"A","campaign":"C","group":"G","text":"k","match_type":"broad"` + more + `}`
	}
	for line, want := range map[string]string{
		`{`:                                   " not valid JSON",
		`[]`:                                  " not a JSON object",
		`x`:                                   " not a JSON object",
		`{"type":"advertiser","name":"A"} {}`: " text after the object",
		`{"type":"advertiser","name":"A"`:     " not valid JSON: the line ends too early",
		`{"type":"advertiser" "name":"A"}`:    " not valid JSON",
		"{\"type\":\"advertiser\",\"name\":\"\xff\"}":        " not valid text",
		`{"type":"advertiser","name":"\ud800"}`:              " not valid text",
		`{"type":"advertiser","name":"\udc00\ud800"}`:        " not valid text",
		`{"type":"advertiser","name":"A","name":"B"}`:        "name twice",
		`{"type":"advertiser","name":"A","Status":"paused"}`: "Status unknown field",
		`{"type":"advertiser","name":"A","text":"x"}`:        "text no field of type advertiser",
		`{"type":"advertiser","name":{"a":1}}`:               "name a field's value cannot be an object",
		`{"type":"advertiser","name":["a"]}`:                 "name not a string",
		`{"type":"advertiser","name":""}`:                    "name empty",
		`{"type":"advertiser","name":null}`:                  "name null",
		`{"type":"advertiser"}`:                              "name missing",
		`{"name":"A"}`:                                       "type missing",
		`{"type":"Advertiser","name":"A"}`:                   "type unknown",
		`{"type":"campaign","name":"C"}`:                     "advertiser missing",
		`{"type":"group","advertiser":"A","name":"G"}`:       "campaign missing",
		`{"type":"ad","advertiser":"A","campaign":"C"}`:      "group missing",
		`{"type":"ad","advertiser":"A","campaign":"C","group":"G","headlines":["1","2","3","4","5","6","7","8","9","10","11","12","13","14","15","16"]}`: "headlines more than 15",
		`{"type":"ad","advertiser":"A","campaign":"C","group":"G","descriptions":"D"}`:                                                                   "descriptions not a list",
		`{"type":"ad","advertiser":"A","campaign":"C","group":"G","descriptions":[1]}`:                                                                   "descriptions not a list",
		`{"type":"ad","advertiser":"A","campaign":"C","group":"G","final_url":null}`:                                                                     "final_url null",
		`{"type":"campaign","advertiser":"A","name":"C","languages":[]}`:                                                                                 "languages no language",
		`{"type":"campaign","advertiser":"A","name":"C","languages":["xx"]}`:                                                                             "languages unknown language",
		`{"type":"campaign","advertiser":"A","name":"C","ad_rotation":"often"}`:                                                                          "ad_rotation unknown",
		`{"type":"campaign","advertiser":"A","name":"C","delivery_method":"slow"}`:                                                                       "delivery_method unknown",
		`{"type":"campaign","advertiser":"A","name":"C","delivery_method":null}`:                                                                         "delivery_method null",
		`{"type":"advertiser","name":"A","time_zone":"Europe/Nowhere"}`:                                                                                  "time_zone unknown time zone",
		`{"type":"advertiser","name":"A","time_zone":""}`:                                                                                                "time_zone unknown time zone",
		`{"type":"advertiser","name":"A","time_zone":1}`:                                                                                                 "time_zone not a string",
		`{"type":"campaign","advertiser":"A","name":"C","time_zone":"UTC"}`:                                                                              "time_zone no field of type campaign",
		`{"type":"campaign","advertiser":"A","name":"C","mobile_bid_modifier":1e1}`:                                                                      "mobile_bid_modifier not a percentage",
		`{"type":"campaign","advertiser":"A","name":"C","mobile_bid_modifier":"10"}`:                                                                     "mobile_bid_modifier not a percentage",
		`{"type":"campaign","advertiser":"A","name":"C","mobile_bid_modifier":901}`:                                                                      "mobile_bid_modifier not within",
		`{"type":"campaign","advertiser":"A","name":"C","daily_budget_micros":1.5}`:                                                                      "daily_budget_micros not a whole number",
		`{"type":"campaign","advertiser":"A","name":"C","status":true}`:                                                                                  "status not a string",
		keyword(`,"max_cpc_micros":10000000001`):                                                                                                         "max_cpc_micros over 10,000 units",
		keyword(`,"max_cpc_micros":-1`):                                                                                                                  "max_cpc_micros not a whole number",
		keyword(`,"quality_score":11`):                                                                                                                   "quality_score not a whole number",
		keyword(`,"status":"off"`):                                                                                                                       "status unknown",
		`{"type":"keyword","advertiser":"A","campaign":"C","group":"G","text":"k"}`:                                                                      "match_type missing",
		`{"type":"keyword","advertiser":"A","campaign":"C","text":"!","match_type":"x"}`:                                                                 "group missing",
		`{"type":"keyword","advertiser":"A","campaign":"C","group":"G","text":"!","match_type":"x"}`:                                                     "text no word",
		`{"type":"keyword","advertiser":"A","campaign":"C","group":"G","text":"k","match_type":"negative broad"}`:                                        "match_type unknown",
		`{"type":"negative","advertiser":"A","group":"G","text":"x","match_type":"broad"}`:                                                               "campaign missing",
		`{"type":"negative","advertiser":"A","campaign":"","text":"x","match_type":"broad"}`:                                                             "campaign empty",
		`{"type":"negative","text":"x","match_type":"broad"}`:                                                                                            "advertiser missing",
		`{"x":` + strings.Repeat("[", 1000):                                                                                                              "x unknown",
		`{"text":` + strings.Repeat("[", 100):                                                                                                            "text not a list",
		`{"x":"` + strings.Repeat("x", 4<<20) + `"}`:                                                                                                     " a line of",
	} {
		dump, rejects := importText(t, ingest.Options{Format: ingest.FormatJSONL}, line+"\n")
		made := ""
		if strings.Contains(line, "languages") {
			made = "A = status=enabled\nA / C = hold=refused_row status=paused\n" // a line that is rejected and would restrict the campaign pauses it
		}
		if dump != made || !strings.HasPrefix(rejects, "1 "+want) || strings.Count(rejects, "\n") != 1 {
			t.Errorf("%.90s: %q%q, want %q", line, dump, rejects, want)
		}
	}
}

func TestJSONLinesAdvertiser(t *testing.T) {
	of := ingest.Options{Advertiser: "Acme"} // the format is detected
	dump, rejects := importText(t, of, " \n"+`{"type":"campaign","name":"C"}`+"\n"+`{"type":"campaign","name":"C","advertiser":"B"}`+"\n")
	if want := "Acme = status=enabled\nAcme / C = status=enabled\nB = status=enabled\nB / C = status=enabled\n"; dump != want {
		t.Errorf("%s", dump)
	}
	if !strings.HasPrefix(rejects, "1 ") {
		t.Errorf("a line of a space: %q", rejects)
	}
}
