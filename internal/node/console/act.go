package console

import (
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"

	"adshard/internal/node/httpapi/api"
)

// formAction is the call that a form makes, the page to show next, and the key of the message on
// it.
type formAction struct {
	path string
	body any // nil for none
	page string
	done string // the key of a message of done
}

// act makes the call that a form wants, in the name of its sender.
func (c *Console) act(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil {
		c.fail(w, r, http.StatusBadRequest, "The form cannot be read.")
		return
	}
	d, err := actionOf(r.PathValue("action"), r.PostForm)
	if err == nil {
		var answer map[string]any
		err = ask(c.cfg.API, r, http.MethodPost, d.path, nil, d.body, &answer)
	}
	if err == nil {
		http.Redirect(w, r, d.page+"?done="+d.done, http.StatusSeeOther)
		return
	}
	status := statusOf(err)
	if slice, err2 := strconv.ParseUint(r.PostForm.Get("slice"), 10, 64); err2 == nil && r.PathValue("action") == "move" {
		c.showSlice(w, r, slice, status, err.Error())
		return
	}
	c.showBalancing(w, r, status, err.Error())
}

// actionOf returns the action that a form asks for. Errors: *refused.
func actionOf(action string, form url.Values) (formAction, error) {
	const page = Root + "balancing"
	name := form.Get("slave")
	switch action {
	case "pause", "resume":
		return formAction{"/v1/balance/" + action, nil, page, action}, nil
	case "drain", "remove":
		if name == "" {
			return formAction{}, &refused{http.StatusBadRequest, "the form names no slave"}
		}
		return formAction{"/v1/slaves/" + url.PathEscape(name) + "/" + action, nil, page, action}, nil
	case "add":
		return formAction{"/v1/slaves", api.AddSlave{Address: strings.TrimSpace(form.Get("address"))}, page, action}, nil
	case "strategy":
		return formAction{"/v1/balance/strategy", strategyOf(form), page, action}, nil
	case "replicas":
		n, err := strconv.Atoi(form.Get("replicas"))
		if err != nil {
			return formAction{}, &refused{http.StatusBadRequest, "the number of replicas is not a number"}
		}
		return formAction{"/v1/balance/replicas", api.Replicas{Replicas: n}, page, action}, nil
	case "move":
		slice, err := strconv.ParseUint(form.Get("slice"), 10, 64)
		if err != nil {
			return formAction{}, &refused{http.StatusBadRequest, "the form names no slice"}
		}
		return formAction{"/v1/balance/move", api.MoveRequest{Slice: slice, Slave: name}, fmt.Sprint(Root, "slices/", slice), action}, nil
	}
	return formAction{}, &refused{http.StatusNotFound, "there is no such form"}
}

// strategyOf reads a strategy and its options from a form, where an option is called "option.NAME";
// empty options get their defaults.
func strategyOf(form url.Values) api.StrategyRequest {
	out := api.StrategyRequest{Name: form.Get("strategy"), Options: map[string]string{}}
	for key := range form {
		if name, ok := strings.CutPrefix(key, "option."); ok && strings.TrimSpace(form.Get(key)) != "" {
			out.Options[name] = strings.TrimSpace(form.Get(key))
		}
	}
	return out
}

// done returns the message about what was done before this page was shown.
func done(r *http.Request) string {
	switch r.URL.Query().Get("done") {
	case "pause":
		return "Balancing is paused."
	case "resume":
		return "Balancing goes on."
	case "drain":
		return "The slave is being drained; the table of slaves shows how far it is."
	case "remove":
		return "The slave is removed."
	case "add":
		return "The slave is added; the table of slaves shows how it is filled."
	case "strategy":
		return "The strategy is changed."
	case "replicas":
		return "The number of replicas is changed."
	case "move":
		return "The slice is being moved."
	}
	return ""
}
