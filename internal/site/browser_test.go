package main

import (
	"context"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
)

// wide is the width of a telephone in pixels.
const wide = 390

// TestNarrow: in a browser, pages fit a telephone's width (tables and commands scroll separately), and are dark if
// the reader's system is.
func TestNarrow(t *testing.T) {
	t.Parallel()
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Skip("there is no chromium: ", err)
	}
	dir := t.TempDir()
	if err := build("../..", dir); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	ctx, cancel = chromedp.NewExecAllocator(ctx, append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(program), chromedp.NoSandbox)...)
	defer cancel()
	ctx, cancel = chromedp.NewContext(ctx)
	defer cancel()
	if err := chromedp.Do(ctx, chromedp.EmulateViewport(wide, 844)); err != nil {
		t.Fatal(err)
	}
	for _, page := range []string{"index", "operations", "operations/watch", "reference/api", "reference/commands", "experiments/strategies", "tutorial"} {
		if err := chromedp.Do(ctx, chromedp.Navigate("file://"+filepath.Join(dir, page+".html"))); err != nil {
			t.Fatal(err)
		}
		width, err := chromedp.Run(ctx, chromedp.Evaluate[int](`document.documentElement.scrollWidth`))
		if err != nil || width > wide {
			t.Errorf("%s is %d pixels wide, %v", page, width, err)
		}
	}
	for scheme, want := range map[string]string{"light": "rgb(255, 255, 255)", "dark": "rgb(20, 24, 28)"} {
		if err := chromedp.Do(ctx, prefers(scheme)); err != nil {
			t.Fatal(err)
		}
		back, err := chromedp.Run(ctx, chromedp.Evaluate[string](`getComputedStyle(document.body).backgroundColor`))
		if err != nil || back != want {
			t.Errorf("the page is %s where the reader prefers %s, %v", back, scheme, err)
		}
	}
}

// prefers makes the browser prefer light or dark pages.
func prefers(scheme string) chromedp.Action[chromedp.Void] {
	return chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
		_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{
			Features: []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}},
		})
		return err
	})
}
