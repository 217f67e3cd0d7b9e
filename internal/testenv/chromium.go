package testenv

// Chromium returns the path of a Chromium or Chrome browser.
func Chromium(t Owner) string {
	t.Helper()
	return program{
		names: []string{
			"chromium", "chromium-browser", "google-chrome",
			"/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
		},
		install: "package chromium; run: make servers",
	}.find(t)
}

// ChromiumFlags are what a test starts a browser with: no window, a profile of
// its own in the empty folder dir, and no talk with anybody but this machine.
func ChromiumFlags(dir string) []string {
	return []string{
		"--headless",
		"--no-sandbox", // root may not have one, and the pages are ours
		"--disable-gpu",
		"--disable-dev-shm-usage", // containers have little of it
		"--disable-quic",
		"--no-first-run",
		"--no-default-browser-check",
		"--disable-background-networking",
		"--disable-component-update",
		"--disable-sync",
		"--no-proxy-server",
		"--host-resolver-rules=MAP * ~NOTFOUND , EXCLUDE localhost , EXCLUDE 127.0.0.1",
		"--user-data-dir=" + dir,
	}
}
