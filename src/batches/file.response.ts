export class FileResponse {
  readonly id: string;
  readonly object: 'file';
  readonly bytes: number;
  /** Unix seconds. */
  readonly created_at: number;
  readonly filename: string;
  readonly purpose: string;
}

export class FileListResponse {
  readonly object: 'list';
  readonly data: FileResponse[];
  readonly first_id?: string | null;
  readonly last_id?: string | null;
  readonly has_more: boolean;
}

export class DeletedResponse {
  readonly id: string;
  readonly object: string;
  readonly deleted: boolean;
}
