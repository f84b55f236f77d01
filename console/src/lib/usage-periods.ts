import { retrieveUsageReport } from '../api/sdk.gen';
import type { RetrieveUsageReportData, UsagePeriod } from '../api/types.gen';

const PAGE_SIZE = 100;
const MAX_PAGES = 20;

type ReportQuery = Omit<NonNullable<RetrieveUsageReportData['query']>, 'current_page' | 'page_size'>;

/** The rows of all pages: they come by time and name, so that the first page has neither the newest nor the dearest. */
export async function readPeriods(query: ReportQuery, signal: AbortSignal): Promise<readonly UsagePeriod[]> {
  const periods: UsagePeriod[] = [];
  for (let page = 0; page < MAX_PAGES; page += 1) {
    const { data } = await retrieveUsageReport({
      query: { ...query, page_size: PAGE_SIZE, current_page: page },
      signal,
      throwOnError: true,
    });
    periods.push(...data.data);
    if (data.data.length < PAGE_SIZE) break;
  }
  return periods;
}
