"""From published or local parallel text to the text that is segmented and binarised."""
